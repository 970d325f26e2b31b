import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../src/shared/concurrency.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { startBankProxy, type BankCall } from '../support/bank-proxy.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** The bank's rate, and open transfers: a round of questions about all of them takes much longer than the longest pause. */
const RATE = 10;
const OPEN = 150;
const WORKERS = 2;
/** Calls that each process may have saved at this rate. */
const SAVED = 7 * WORKERS;
const WINDOW_SECONDS = 5;
/** Temporal's TIMEOUT_TYPE_SCHEDULE_TO_START and TIMEOUT_TYPE_SCHEDULE_TO_CLOSE: a call that expires before it begins. */
const QUEUE_TIMEOUTS = new Set<unknown>([2, 3]);

let service: Service;
let tenant: TestTenant;
let proxy: Awaited<ReturnType<typeof startBankProxy>>;
let ids: string[];

beforeAll(async () => {
  service = await startService({
    workers: WORKERS,
    bank: {
      callbacks: false,
      async through(port) {
        proxy = await startBankProxy(port);
        return proxy.port;
      },
    },
    env: { SANDBOX_BANK_CALLS_PER_SECOND: String(RATE) },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
  proxy?.close();
});

/** The most calls in any window, as far as the proxy can tell. */
const mostInWindow = (calls: readonly BankCall[]) =>
  proxy.mostInWindow(calls, WINDOW_SECONDS, RATE);

const lookUps = (reference: string) =>
  proxy.seen.calls.filter((call) => call.reference === reference).length;

test('open transfers beyond the bank’s rate are asked about within it, the longest waiting first', async () => {
  ids = await mapWithConcurrency(10, Array.from({ length: OPEN }), () => tenant.send('006'));
  await eventually(
    'the first questions about each',
    () => (ids.every((id) => lookUps(id) >= 1) ? true : undefined),
    300_000,
  );
  const from = proxy.seen.calls.length;
  const rounds = Math.min(...ids.map(lookUps)) + 2;
  await eventually(
    'two more rounds of questions',
    () => (ids.every((id) => lookUps(id) >= rounds) ? true : undefined),
    300_000,
  );
  expect(mostInWindow(proxy.seen.calls)).toBeLessThanOrEqual(RATE * WINDOW_SECONDS + SAVED);
  // A transfer waits in one of four partitions, each in order and of about a quarter of all. In any other order the last
  // transfer would have its second question after seven times as many questions as there are transfers, or never.
  expect(proxy.seen.calls.length - from).toBeLessThan(4 * OPEN);
  // In a fair queue no transfer is asked about much more often than another.
  const asked = proxy.seen.calls.slice(from).map(({ reference }) => reference);
  const most = Math.max(...ids.map((id) => asked.filter((each) => each === id).length));
  expect(most).toBeLessThanOrEqual(6);
});

test('an operator’s command does not wait for the polls before it', async () => {
  const id = ids.at(-1) ?? '';
  // The first command starts the operator API in this process, which would count as a wait.
  expect((await bursar(`transfers show ${id}`, service.env)).code).toBe(0);
  const before = proxy.seen.calls.length;
  expect((await bursar(`transfers verify ${id} --reason asked`, service.env)).code).toBe(0);
  const earlier = await eventually('its question', () => {
    const place = proxy.seen.calls.slice(before).findIndex(({ reference }) => reference === id);
    return place === -1 ? undefined : place;
  });
  expect(earlier).toBeLessThan(OPEN / 2);
});

test('a bank that does not answer gets single calls, and after its return one question ends each transfer', async () => {
  proxy.seen.down = true;
  await eventually('the workers have noticed', () =>
    service.logs().split('provider does not answer').length > WORKERS ? true : undefined,
  );
  const down = proxy.seen.calls.length;
  const began = performance.now();
  await sleep(20_000);
  const seconds = (performance.now() - began) / 1_000;
  expect(proxy.seen.calls.length - down).toBeLessThan((RATE * seconds) / 4);
  for (const id of ids) await service.bank.decideTransfer(id, 'paid');
  proxy.seen.down = false;
  const back = proxy.seen.calls.length;
  await service.allEnded();
  expect(proxy.seen.calls.length - back).toBeLessThanOrEqual(OPEN + SAVED);
  expect(mostInWindow(proxy.seen.calls)).toBeLessThanOrEqual(RATE * WINDOW_SECONDS + SAVED);
});

test('no call has expired in the queue, no operator was called, and the ledger agrees with the bank', async () => {
  const { workflow } = service.deps.temporal.client;
  // A call that a busy machine did not finish in its own time has left the queue before.
  const expired = await mapWithConcurrency(10, ids, async (id) => {
    const { events } = await workflow.getHandle(transferWorkflowId(id)).fetchHistory();
    return (events ?? []).filter(({ activityTaskTimedOutEventAttributes: timedOut }) =>
      QUEUE_TIMEOUTS.has(timedOut?.failure?.timeoutFailureInfo?.timeoutType),
    );
  });
  expect(expired.flat()).toEqual([]);
  const transfers = service.deps.database.db.collection('transfers');
  expect(await transfers.countDocuments({ 'timeline.type': 'attention_raised' })).toBe(0);
  expect(await service.problems()).toEqual([]);
});
