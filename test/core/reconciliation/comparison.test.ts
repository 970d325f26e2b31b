import { noteAnswers } from '../../../activities/provider-result.js';
import { createCallRates } from '../../../src/core/providers/call-rates.js';
import type { ObserveCall } from '../../../src/core/providers/observed.js';
import { createRegistry } from '../../../src/core/providers/registry.js';
import type { VerifyAnswer } from '../../../src/core/providers/transfer-provider.js';
import { createBreaks } from '../../../src/core/reconciliation/breaks.js';
import { createComparison, emptyReport } from '../../../src/core/reconciliation/comparison.js';
import {
  describePayment,
  paymentAgrees,
} from '../../../src/core/reconciliation/payment-answers.js';
import { transferRateLimitKey } from '../../../src/platform/temporal/queues.js';
import type { Config } from '../../../src/shared/config.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { withEmptyParts } from '../../support/parts.js';
import { NOW, pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const observe: ObserveCall = () => undefined;
const none = { transfers: [], cards: [], payments: [], accounts: [], bills: [], identity: [] };
const noneChosen = {
  transfers: null,
  cards: null,
  payments: null,
  virtual_accounts: null,
  identity: null,
  billpay: null,
};

test('a record whose provider is not configured any more is unanswered, and the others of its page are compared', async () => {
  const config = withEmptyParts<Config>({ providers: noneChosen });
  const { transfer } = createRegistry(none, { config, observe });
  const of = (id: string, provider: string) =>
    pendingTransfer({ _id: id, provider, status: 'completed', completed_at: NOW, updated_at: NOW });
  const page = [of('trf_1', 'gone'), of('trf_2', 'bank'), of('trf_3', 'bank')];
  const comparePage = createComparison<(typeof page)[number], VerifyAnswer>({
    kind: 'transfers',
    rateLimitKey: transferRateLimitKey,
    get: async (_, id) => page.find(({ _id }) => _id === id) ?? null,
    ask: async ({ _id: id, provider }, signal) =>
      provider === 'gone'
        ? transfer(provider).verify({ reference: id, handle: null }, signal)
        : { kind: 'not_found', providerRequestId: null },
    agrees: paymentAgrees,
    describe: describePayment,
    apply: async () => null,
  });
  const report = emptyReport();
  const breaks = createBreaks(database.db);
  await comparePage({ apply: false, takeTurn: async () => undefined, report, breaks }, page);
  expect(report).toMatchObject({ asked: 3, unanswered: 1, differing: 2 });
  const open = await breaks.list({ status: 'open', limit: 10 });
  expect(open.map(({ reference }) => reference).toSorted()).toEqual(['trf_2', 'trf_3']);
});

test('questions without an answer take the provider down, and the first answer ends that', async () => {
  const name = transferRateLimitKey('bank');
  const at = { ms: 0 };
  const rates = createCallRates({
    limits: [{ name, callsPerSecond: 1_000, bulkTransfersOf: null }],
    workers: () => 1,
    now: () => at.ms,
  });
  const page = Array.from({ length: 5 }, (_, i) =>
    pendingTransfer({ _id: `trf_${i}`, provider: 'bank', created_at: NOW, updated_at: NOW }),
  );
  let answer: VerifyAnswer = { kind: 'unknown', reason: 'timeout', providerRequestId: null };
  const comparePage = createComparison<(typeof page)[number], VerifyAnswer>({
    kind: 'transfers',
    rateLimitKey: transferRateLimitKey,
    get: async (_, id) => page.find(({ _id }) => _id === id) ?? null,
    ask: async () => answer,
    agrees: paymentAgrees,
    describe: describePayment,
    apply: async () => null,
  });
  const run = {
    apply: true,
    takeTurn: async () => undefined,
    report: emptyReport(),
    breaks: createBreaks(database.db),
    answered: noteAnswers(rates),
  };
  /** A provider that is down has one call at a time. */
  const mayCallTwice = () => {
    at.ms += 10_000;
    return rates.isAllowed(name, 'queued', 1);
  };
  expect(mayCallTwice()).toBe(true);
  await comparePage(run, page);
  expect([run.report.unanswered, mayCallTwice()]).toEqual([5, false]);
  answer = { kind: 'pending', providerRequestId: null };
  await comparePage(run, page.slice(0, 1));
  expect(mayCallTwice()).toBe(true);
});
