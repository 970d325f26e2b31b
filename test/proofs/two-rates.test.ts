import { mapWithConcurrency } from '../../src/shared/concurrency.js';
import { startBankProxy, type BankCall } from '../support/bank-proxy.js';
import { acceptedIds, bulkClient } from '../support/bulk.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, untilTaken, type TestTenant } from '../support/tenant.js';

/** The bank counts submissions apart from all other calls. */
const SUBMISSIONS = 18;
const QUESTIONS = 6;
/** Open transfers, whose polls take the rate of questions: each is due every two seconds. */
const OPEN = 40;
const BULK = 150;
/** Calls that the process may have saved at these rates. */
const SAVED = 11;
const WINDOW_SECONDS = 5;

let service: Service;
let tenant: TestTenant;
let open: string[];
let proxy: Awaited<ReturnType<typeof startBankProxy>>;

beforeAll(async () => {
  service = await startService({
    bank: {
      callbacks: false,
      async through(port) {
        proxy = await startBankProxy(port);
        return proxy.port;
      },
    },
    env: {
      SANDBOX_BANK_PREPARE: 'true',
      SANDBOX_BANK_CALLS_PER_SECOND: String(QUESTIONS),
      SANDBOX_BANK_SUBMISSIONS_PER_SECOND: String(SUBMISSIONS),
    },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
  proxy?.close();
});

/** The noted calls: submissions, and all others, preparations among them. */
const callsFrom = (from: number) => {
  const calls = proxy.seen.calls.slice(from);
  const isSubmission = ({ method, path }: BankCall) =>
    method === 'POST' && path === '/v1/transfers';
  return {
    submissions: calls.filter(isSubmission),
    questions: calls.filter((call) => !isSubmission(call)),
  };
};

test('a bulk transfer has the rate of submissions beside polls that have their own, and neither is exceeded', async () => {
  open = await mapWithConcurrency(10, Array.from({ length: OPEN }), () => tenant.send('006'));
  const isPolled = (id: string) => proxy.seen.calls.some(({ reference }) => reference === id);
  await eventually(
    'a question about each',
    () => (open.every(isPolled) ? true : undefined),
    300_000,
  );

  const from = proxy.seen.calls.length;
  const { send, ended } = bulkClient(tenant);
  const transfers = Array.from({ length: BULK }, () => transferBody('100'));
  const { body } = await untilTaken((own) => send(transfers, own));
  expect(acceptedIds(body.data)).toHaveLength(BULK);
  await ended(body.data.id);

  const { submissions, questions } = callsFrom(from);
  const [first, last] = [submissions[0]?.at ?? 0, submissions.at(-1)?.at ?? 0];
  const most = (calls: typeof submissions, rate: number) =>
    proxy.mostInWindow(calls, WINDOW_SECONDS, rate);
  // Of one rate for all, submissions would have had less than this, and polls less beside them.
  expect(most(submissions, SUBMISSIONS)).toBeGreaterThan(QUESTIONS * WINDOW_SECONDS + SAVED);
  const meanwhile = questions.filter(({ at }) => at > first && at < last);
  expect(meanwhile.length).toBeGreaterThan((BULK * QUESTIONS) / SUBMISSIONS / 2);
  const all = callsFrom(0);
  expect(most(all.submissions, SUBMISSIONS)).toBeLessThanOrEqual(
    SUBMISSIONS * WINDOW_SECONDS + SAVED,
  );
  expect(most(all.questions, QUESTIONS)).toBeLessThanOrEqual(QUESTIONS * WINDOW_SECONDS + SAVED);
});

test('every transfer ends once its bank has decided, and the ledger agrees with the bank', async () => {
  for (const id of open) await service.bank.decideTransfer(id, 'paid');
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
