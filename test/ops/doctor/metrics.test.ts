import { Writable } from 'node:stream';
import { Registry } from 'prom-client';
import { fail, pass, type Check } from '../../../src/ops/doctor/check.js';
import { measureDoctor } from '../../../src/ops/doctor/metrics.js';
import { createLog } from '../../../src/shared/log.js';

const log = createLog({
  level: 'error',
  name: 'test',
  destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
});

test('each row of doctor is a metric that follows it, and a row that was not made has no value', async () => {
  let rows: Check[] = [
    { check: 'mongodb', ...pass('answers') },
    { check: 'clock', ...pass('0 s') },
  ];
  const registry = new Registry();
  measureDoctor(registry, { examine: async () => rows, log, readEveryMs: 0 });
  const values = async () => {
    const { values: all = [] } = (await registry.getSingleMetric('bursar_doctor_row')?.get()) ?? {};
    return Object.fromEntries(all.map(({ labels, value }) => [labels['row'], value]));
  };
  expect(await values()).toEqual({ mongodb: 1, clock: 1 });
  rows = [{ check: 'mongodb', ...fail('does not answer', 'start it') }];
  expect(await values()).toEqual({ mongodb: 0 });
});
