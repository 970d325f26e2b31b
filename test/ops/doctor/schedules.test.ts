import { randomUUID } from 'node:crypto';
import { examineTemporal } from '../../../src/ops/doctor/temporal.js';
import { createTemporal, type Temporal } from '../../../src/platform/temporal/client.js';
import { loadConfig, type Config } from '../../../src/shared/config.js';
import { eventually } from '../../support/eventually.js';
import { shareService, type Service } from '../../support/service.js';

let service: Service;
let temporal: Temporal;
let config: Config;
let queue: string;

beforeAll(async () => {
  service = await shareService();
  queue = `test_${randomUUID().replaceAll('-', '')}`;
  config = loadConfig({ ...service.env, BURSAR_TASK_QUEUE: queue });
  temporal = createTemporal(config.temporal);
});

afterAll(async () => {
  await temporal.close();
  await service.close();
});

/** The row about Schedules, once it says this. */
const untilDetail = (detail: string) =>
  eventually(`the row says: ${detail}`, async () => {
    const rows = await examineTemporal(config, []);
    return rows.find((row) => row.check === 'temporal: schedules' && row.detail === detail);
  });

test('a Schedule that is paused fails its row until it runs again, unless it is of another deployment', async () => {
  const create = (taskQueue: string) =>
    temporal.client.schedule.create({
      scheduleId: `transfer-reconciliation/${taskQueue}/sandbox-bank`,
      spec: {},
      action: { type: 'startWorkflow', workflowType: 'none', taskQueue, args: [] },
      state: { paused: true },
    });
  const schedules = [await create(queue), await create(`${queue}-of-others`)];
  try {
    const paused = await untilDetail(`paused: transfer-reconciliation/${queue}/sandbox-bank`);
    expect(paused).toMatchObject({
      ok: false,
      hint: expect.stringContaining('unpause') as unknown,
    });
    await schedules[0]?.unpause();
    expect(await untilDetail('none is paused')).toMatchObject({ ok: true, hint: null });
  } finally {
    await Promise.all(schedules.map((schedule) => schedule.delete()));
  }
});
