import { Registry } from 'prom-client';
import { examineService } from '../../../src/ops/doctor/doctor.js';
import { measureDoctor } from '../../../src/ops/doctor/metrics.js';
import { loadConfig } from '../../../src/shared/config.js';
import { eventually } from '../../support/eventually.js';
import { bursar as runBursar, bursarProcess } from '../../support/cli.js';
import { startListening, type Listening } from '../../support/listening.js';
import { ORDER_TOTAL_MINOR } from '../../support/tenant.js';
import { BACKLOG_ROWS } from '../../support/backlog-rows.js';

let all: Listening;
beforeAll(async () => {
  all = await startListening();
});
afterAll(async () => {
  await all?.close();
});

/** Runs one command as an operator would. */
async function bursar(
  line: string,
  over: Record<string, string> = {},
  run = runBursar,
): Promise<{ code: number; out: string }> {
  const { code, out, error } = await run(`${line} --json`, { ...all.service.env, ...over });
  return { code, out: out || error };
}

async function json(line: string) {
  const { code, out } = await bursar(line);
  expect([line, code, out]).toEqual([line, 0, expect.anything()]);
  return JSON.parse(out);
}

test('endpoints are added, listed, rotated, disabled and removed, and a new secret is shown', async () => {
  const at = await all.receiver();
  const { id: tenantId } = await all.service.tenant();
  const added = await json(`webhooks endpoints add --tenant ${tenantId} --url ${at.url}`);
  expect(added).toEqual({ id: expect.stringMatching(/^whe_/), secret: expect.any(String) });
  const listed = () => json(`webhooks endpoints list --tenant ${tenantId}`);
  expect(await listed()).toMatchObject([
    { id: added.id, url: at.url, status: 'enabled', secrets: 1 },
  ]);
  const rotated = await json(`webhooks endpoints rotate ${added.id}`);
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(added.secret);
  expect(Date.parse(rotated.old_secret_signs_until)).toBeGreaterThan(Date.now());
  await json(`webhooks endpoints disable ${added.id}`);
  expect(await listed()).toMatchObject([{ status: 'disabled', secrets: 2 }]);
  await json(`webhooks endpoints enable ${added.id}`);
  await json(`webhooks endpoints remove ${added.id}`);
  expect(await listed()).toEqual([]);
  const refused = await Promise.all(
    ['remove', 'disable', 'rotate'].map((change) =>
      bursar(`webhooks endpoints ${change} ${added.id}`),
    ),
  );
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1]);
});

test('an endpoint with an unusable address or an unknown tenant is refused with the reason', async () => {
  const { id: tenantId } = await all.service.tenant();
  const add = (url: string, of = tenantId) =>
    bursar(`webhooks endpoints add --tenant ${of} --url ${url}`);
  expect(await Promise.all([add('ftp://x'), add('http://x', 'ten_nobody')])).toEqual([
    { code: 1, out: expect.stringContaining('neither https') },
    { code: 1, out: expect.stringContaining('there is no tenant') },
  ]);
});

test('deliveries are listed, shown and sent again; an event is replayed', async () => {
  const at = await all.receiver();
  const { tenant } = await all.tenant(at);
  const transfer = await tenant.send();
  await all.waitForEvents(at, transfer, 2);
  await all.inState(tenant, 'delivered', 2);
  const listed = await json(`webhooks deliveries list --tenant ${tenant.id}`);
  expect(listed).toHaveLength(2);
  const shown = await json(`webhooks deliveries show ${listed[0].id}`);
  expect(shown).toMatchObject({ status: 'delivered', attempts: [{ status: 204, error: null }] });
  await json(`webhooks deliveries redeliver ${listed[0].id}`);
  await all.waitForEvents(at, transfer, 3);
  await json(`webhooks events replay ${listed[1].event}`);
  await all.waitForEvents(at, transfer, 4);
  const { timeline } = await json(`transfers show ${transfer}`);
  const types = timeline.map(({ type }: { type: string }) => type);
  expect(types.filter((type: string) => type === 'webhook_delivered')).toHaveLength(2);
  expect(await json(`webhooks deliveries list --tenant ${tenant.id} --dead`)).toEqual([]);
});

describe('doctor', () => {
  type Check = { check: string; ok: boolean; detail: string; hint: string | null };

  async function doctor(changes: Record<string, string> = {}, run = runBursar) {
    const { code, out, error } = await run('doctor --json', {
      ...all.service.env,
      ...changes,
    });
    // Every problem is a row, and never a stack trace.
    expect(error).toBe('');
    const checks = JSON.parse(out) as Check[];
    const wrong = checks.filter(({ ok }) => !ok);
    expect(code).toBe(wrong.length === 0 ? 0 : 1);
    for (const { ok, hint } of checks) expect(hint === null).toBe(ok);
    return { checks, wrong: wrong.map(({ check }) => check) };
  }

  test('doctor reports no problem for a running service, and names the worker of each queue', async () => {
    // A busy machine may answer a check too late.
    const { checks, table } = await eventually('no row has a problem', async () => {
      const [rows, printed] = await Promise.all([doctor(), runBursar('doctor', all.service.env)]);
      expect([rows.wrong, printed.code]).toEqual([[], 0]);
      return { checks: rows.checks, table: printed };
    });
    const queue = all.service.env['BURSAR_TASK_QUEUE'];
    expect(checks.map(({ check }) => check)).toEqual([
      'mongodb',
      'mongodb: version',
      'mongodb: replica set',
      'mongodb: transaction limit',
      'mongodb: schema',
      'clock',
      'key pepper',
      'sealing keys',
      'provider secrets',
      'audit log',
      'mongodb: expiry',
      ...BACKLOG_ROWS,
      'provider faults',
      'provider health',
      'reconciliation: runs',
      'temporal',
      'temporal: namespace',
      'temporal: search attributes',
      'temporal: schedules',
      `worker: ${queue}`,
      `worker: ${queue}-sandbox-bank-transfers`,
      `worker: ${queue}-sandbox-bank-bulk-transfers`,
      `worker: ${queue}-sandbox-bank-cards`,
      `worker: ${queue}-sandbox-bank-payments`,
      `worker: ${queue}-sandbox-bank-accounts`,
      `worker: ${queue}-sandbox-bank-identity`,
      `worker: ${queue}-sandbox-bank-bills`,
      `worker: ${queue}-webhooks`,
      `worker: ${queue}-provider-event-replays`,
      'provider: sandbox-bank',
    ]);
    const registry = new Registry();
    const config = loadConfig(all.service.env);
    measureDoctor(registry, { examine: () => examineService(config), log: all.service.deps.log });
    const rows = await eventually('every row has a metric', async () => {
      const { values = [] } = (await registry.getSingleMetric('bursar_doctor_row')?.get()) ?? {};
      return values.length > 0 ? values : undefined;
    });
    expect(rows.map(({ labels, value }) => [labels['row'], value])).toEqual(
      checks.map(({ check }) => [check, 1]),
    );
    expect([table.code, table.out]).toEqual([0, expect.stringMatching(/^check +ok +detail/)]);
  });

  test('doctor reports each dependency that is down in a row, and exits', async () => {
    const port = await all.service.deadPort();
    const down = {
      MONGODB_URI: `mongodb://127.0.0.1:${port}/?replicaSet=bursar&directConnection=true`,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      SANDBOX_BANK_URL: `http://127.0.0.1:${port}`,
    };
    const { wrong } = await doctor(down, bursarProcess);
    expect(wrong).toEqual(['mongodb', 'temporal', 'provider: sandbox-bank']);
  });

  test('doctor reports missing workers, a missing namespace and a missing schema', async () => {
    const [unserved, elsewhere] = await Promise.all([
      doctor({ BURSAR_TASK_QUEUE: 'nobody', BURSAR_DATABASE: 'nothing' }),
      doctor({ TEMPORAL_NAMESPACE: 'elsewhere' }),
    ]);
    expect(unserved.wrong).toEqual([
      'mongodb: schema',
      'worker: nobody',
      'worker: nobody-sandbox-bank-transfers',
      'worker: nobody-sandbox-bank-bulk-transfers',
      'worker: nobody-sandbox-bank-cards',
      'worker: nobody-sandbox-bank-payments',
      'worker: nobody-sandbox-bank-accounts',
      'worker: nobody-sandbox-bank-identity',
      'worker: nobody-sandbox-bank-bills',
      'worker: nobody-webhooks',
      'worker: nobody-provider-event-replays',
    ]);
    expect(elsewhere.wrong).toEqual(['temporal: namespace']);
  });

  test('doctor detects a different pepper by the sealed secrets', async () => {
    await all.tenant(await all.receiver());
    const { wrong } = await doctor({ BURSAR_KEY_PEPPER: 'another pepper than the one of before' });
    expect(wrong).toEqual(['key pepper']);
  });
});
test('a command names the dependency that does not answer', async () => {
  const unusedPort = await all.service.deadPort();
  const at = await all.receiver();
  const { tenant } = await all.tenant(at);
  const id = await tenant.send('006');
  const withoutTemporal = { TEMPORAL_ADDRESS: `127.0.0.1:${unusedPort}` };
  const withoutApi = {
    BURSAR_OPERATOR_URL: `http://127.0.0.1:${unusedPort}`,
    BURSAR_OPERATOR_KEY: 'op_sandbox_none',
  };
  // Concurrent, because each command waits for its own connection to fail.
  const [shown, retried, unread] = await Promise.all([
    bursar(`transfers show ${id}`, withoutTemporal, bursarProcess),
    bursar(`transfers retry ${id} --reason again`, withoutTemporal, bursarProcess),
    bursar(`transfers show ${id}`, withoutApi, bursarProcess),
  ]);
  expect(shown).toMatchObject({ code: 0 });
  expect(retried).toMatchObject({
    code: 1,
    out: expect.stringMatching(/Temporal or the worker does not answer/),
  });
  expect(unread).toMatchObject({
    code: 1,
    out: expect.stringMatching(/the operator API .* does not answer/),
  });
});

test('retry, verify, complete and fail of a transfer take the same options; a session id and force change only what they belong to', async () => {
  const at = await all.receiver();
  const { tenant } = await all.tenant(at);
  const id = await tenant.send('006');
  const options = `${id} --reason again --session-id 000013 --force`;
  for (const kind of ['retry', 'verify']) {
    expect(await json(`transfers ${kind} ${options}`)).toMatchObject({ status: 'processing' });
  }
  for (const kind of ['complete', 'fail']) {
    const { code, out } = await bursar(`transfers ${kind} ${options}`);
    const asked = { done: false, approval: expect.stringMatching(/^apr_/) };
    expect([kind, code, JSON.parse(out)]).toEqual([kind, 1, expect.objectContaining(asked)]);
  }
  const commands = all.service.deps.database.db.collection('operator_commands');
  const sent = await commands.find({ tenant_id: tenant.id }).sort({ created_at: 1 }).toArray();
  const taken = sent.map(({ action, force, session_id: session }) => [action, force, session]);
  expect(taken).toEqual([
    ['transfers.retry', false, null],
    ['transfers.verify', false, null],
    ['transfers.complete', true, '000013'],
    ['transfers.fail', true, null],
  ]);
});

test('a wallet is shown with its available balance, its holds and its receivable', async () => {
  const tenant = await all.service.tenant({ balanceMinor: 1_000_000 });
  await tenant.send('006');
  expect(await json(`wallets show --tenant ${tenant.id}`)).toEqual({
    available_minor: 1_000_000 - ORDER_TOTAL_MINOR,
    held_minor: ORDER_TOTAL_MINOR,
    receivable_minor: 0,
  });
});
