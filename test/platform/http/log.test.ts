import { Writable } from 'node:stream';
import { createLog } from '../../../src/shared/log.js';

function logged(write: (log: ReturnType<typeof createLog>) => void, debugSample = 1): string {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  write(createLog({ level: 'debug', debugSample, name: 'test', destination }));
  return text;
}

test('the log hides fields of people, accounts and secrets at any depth', () => {
  const text = logged((log) =>
    log.info(
      {
        request_id: 'req_1',
        authorization: 'Bearer hide-me',
        recipient_name: 'hide-me',
        transfer: { id: 'trf_1', recipient: { account: 'hide-me' }, narration: 'hide-me' },
        list: [{ accountNumber: 'hide-me', Email: 'hide-me' }],
        body: Buffer.from('hide-me'),
      },
      'message',
    ),
  );
  expect(text).not.toContain('hide-me');
  expect(JSON.parse(text)).toMatchObject({
    request_id: 'req_1',
    transfer: { id: 'trf_1' },
    name: 'test',
  });
});

test('a logged error keeps type, code and stack, and loses the values that the database quotes', () => {
  const cause = new Error(
    'E11000 duplicate key error collection: x dup key: { name: "Ada Lovelace" }',
  );
  const error = Object.assign(
    new Error('account 0123456789 at mongodb://user:pass@host/', { cause }),
    {
      code: 'E_TEST',
      errInfo: { details: 'Ada Lovelace' },
      keyValue: { name: 'Ada Lovelace' },
    },
  );
  for (const text of [
    logged((log) => log.error({ err: error }, 'failed')),
    logged((log) => log.error(error)),
    logged((log) => log.error({ nested: { problem: error } }, 'failed')),
  ]) {
    expect(text).toContain('E11000 duplicate key');
    expect(text).toContain('E_TEST');
    for (const hidden of ['Lovelace', '0123456789', 'user:pass'])
      expect(text).not.toContain(hidden);
  }
});

test('the log writes lines of its level and above', () => {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const log = createLog({ level: 'warn', name: 'test', destination });
  log.info('quiet');
  log.warn('loud');
  expect(text).not.toContain('quiet');
  expect(text).toContain('loud');
});

test('of a share of the records all debug lines are written, of the others none, and lines of other levels always', () => {
  const records = Array.from({ length: 1_000 }, (_, i) => `trf_${i}`);
  const lines = logged((log) => {
    for (const resource of records) {
      log.debug({ resource }, 'first');
      log.info({ resource }, 'told');
      log.debug({ resource, request_id: `req_${resource}` }, 'second');
    }
  }, 0.1)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { resource: string; msg: string });
  const of = (message: string) =>
    lines.flatMap(({ msg, resource }) => (msg === message ? [resource] : []));
  expect(of('told')).toEqual(records);
  expect(of('second')).toEqual(of('first'));
  expect(of('first').length).toBeGreaterThan(50);
  expect(of('first').length).toBeLessThan(200);
});
