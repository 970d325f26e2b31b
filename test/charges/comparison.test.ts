import { charges, readAttempt, type Charge } from '../../src/capabilities/charges/record.js';
import { chargeAgrees, reconciledCharges } from '../../src/capabilities/charges/comparison.js';
import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { askAttempts, createChargeCalls } from '../../src/capabilities/charges/provider-calls.js';
import type {
  PaymentProvider,
  VerifyChargeAnswer,
} from '../../src/core/providers/payment-provider.js';
import type { About } from '../../src/core/providers/port.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';
import {
  chargeFields,
  days,
  merchantCharge,
  of,
  pageCharge,
  paid as paidFact,
  refused,
  sent,
  transition,
} from '../support/charge-facts.js';
import { recordSet, run } from '../support/decisions.js';
import { withEmptyParts } from '../support/parts.js';
import { emptySnapshot } from '../support/transfers.js';

const AMOUNT = chargeFields.amount_minor;
const trace = { providerRequestId: null };
const paid = (amountMinor: bigint): VerifyChargeAnswer => ({
  ...trace,
  kind: 'succeeded',
  amountMinor,
  surchargeMinor: 0n,
  currency: 'NGN',
  feeMinor: null,
  method: null,
});
const notFound: VerifyChargeAnswer = { ...trace, kind: 'not_found' };
const unknown: VerifyChargeAnswer = { ...trace, kind: 'unknown', reason: 'unrecognized' };
const answers: Record<string, VerifyChargeAnswer> = {
  paid: paid(AMOUNT),
  'paid another amount': paid(AMOUNT - 1n),
  'paid back': { ...trace, kind: 'reversed' },
  declined: { ...trace, kind: 'declined', code: 'card_declined', decline: 'hard' },
  cancelled: { ...trace, kind: 'cancelled' },
  abandoned: { ...trace, kind: 'abandoned' },
  pending: { ...trace, kind: 'pending', awaits: 'customer', redirect: null, lastDecline: null },
  not_found: notFound,
};
const NOT_PAID = ['abandoned', 'cancelled', 'declined', 'not_found', 'pending'];
const PAID = ['paid', 'paid another amount', 'paid back'];
const ours: Record<string, Partial<Charge>> = {
  open: { status: 'processing' },
  completed: { status: 'completed' },
  'completed with another amount': { status: 'completed', settled_amount_minor: AMOUNT - 1n },
  'completed and refunded': { status: 'completed', refunded_minor: AMOUNT },
  'completed, refunded and disputed': {
    status: 'completed',
    refunded_minor: 1n,
    disputed_minor: AMOUNT - 1n,
  },
  failed: { status: 'failed' },
  'failed, with a payment in suspense': {
    status: 'failed',
    suspended: [{ attempt: 1, amount_minor: 1n, fee_minor: null }],
  },
  'failed, with a returned payment': { status: 'failed', returned_attempts: [1] },
};

test.each([
  ['open', ['abandoned', 'not_found', 'pending']],
  ['completed', ['paid']],
  ['completed with another amount', ['paid another amount']],
  ['completed and refunded', ['paid', 'paid back']],
  ['completed, refunded and disputed', ['paid', 'paid back']],
  ['failed', NOT_PAID],
  ['failed, with a payment in suspense', [...NOT_PAID, ...PAID].toSorted()],
  ['failed, with a returned payment', [...NOT_PAID, ...PAID].toSorted()],
])('a charge that is %s agrees with %s, and with nothing else', (name, fits) => {
  const charge = { ...pageCharge(), ...ours[name] };
  const found = Object.entries(answers).filter(([, answer]) => chargeAgrees(charge, answer));
  expect(found.map(([answer]) => answer).toSorted()).toEqual(fits);
});

test('a paid charge whose fee is not known here does not agree with an answer that has it', () => {
  const charge = { ...pageCharge(), status: 'completed' as const };
  const withFee = { ...paid(AMOUNT), feeMinor: 100n };
  expect(chargeAgrees({ ...charge, provider_fee_minor: null }, withFee)).toBe(false);
  expect(chargeAgrees({ ...charge, provider_fee_minor: 100n }, withFee)).toBe(true);
});

/**
 * Compares a charge with a provider that has these attempts paid, and applies what differs. Returns the charge afterwards.
 * `unclear`: the attempts of which the provider says a word that Bursar does not know.
 */
async function compared(
  charge: Charge,
  paidAttempts: number[],
  fee: bigint | null = null,
  unclear: number[] = [],
) {
  let state = { ...emptySnapshot(), records: recordSet() };
  state.records.set(charges, charge);
  const stored = () => state.records.get(charges, charge._id) as Charge;
  const provider = withEmptyParts<PaymentProvider>({
    verifyCharge({ reference }: About) {
      const attempt = readAttempt(reference)?.attempt ?? 0;
      if (unclear.includes(attempt)) return Promise.resolve(unknown);
      const isPaid = paidAttempts.includes(attempt);
      return Promise.resolve(isPaid ? { ...paid(AMOUNT), feeMinor: fee } : notFound);
    },
  });
  const store = withEmptyParts({
    get: () => Promise.resolve(stored()),
    applyFact({ _id: id, tenant_id: tenantId }: Charge, fact: ChargeFact) {
      const input = { kind: 'applyChargeFact', tenantId, id, of: stored(), fact } as const;
      const decided = run(state, [[input]]);
      state = decided.state;
      return Promise.resolve(decided.outcomes[0]);
    },
  });
  const providerCalls = createChargeCalls({
    charges: store as never,
    tokens: withEmptyParts({}),
    providers: { payment: () => provider, payments: [provider] },
    expiresAfterMs: 1_000,
  });
  const reconciled = reconciledCharges({
    charges: {
      store: store as never,
      providerCalls,
      starter: { notifyChangedSoon: () => undefined },
    },
    disputes: { readTakenBack: () => Promise.resolve() },
    database: withEmptyParts({}),
    providers: { payment: () => provider },
  });
  const report = emptyReport();
  const [takeTurn, note] = [() => Promise.resolve(), () => Promise.resolve()];
  await reconciled.reconcileOne(
    { apply: true, takeTurn, report, breaks: { note } },
    charge.tenant_id,
    charge._id,
  );
  return { charge: stored(), report };
}

describe('a page of which the provider says nothing usable', () => {
  const second = sent(transition(sent(pageCharge()), of('page_lost')).next);
  const third = sent(transition(second, { ...of('page_lost'), attempt: 2 }).next);

  test('hides no payment of another page', async () => {
    for (const page of [2, 3]) {
      const { charge, report } = await compared(third, [page], null, [1]);
      expect(charge).toMatchObject({ status: 'completed', attempt: page });
      expect(report.differing).toBe(1);
    }
    expect((await compared(second, [1], null, [2])).charge.status).toBe('completed');
  });

  test('keeps a completed charge from agreeing, and hides no later fee of its payment', async () => {
    const completed = transition(third, paidFact({ attempt: 3, feeMinor: null })).next;
    expect((await compared(completed, [3], null, [1])).report).toMatchObject({ unanswered: 1 });
    const { charge } = await compared(completed, [3], 100n, [1]);
    expect(charge.provider_fee_minor).toBe(100n);
  });

  test('may have been paid: the present page proves nothing then', async () => {
    for (const present of ['not_found', 'pending', 'abandoned', 'declined', 'cancelled']) {
      const said = [notFound, unknown, answers[present] as VerifyChargeAnswer];
      const ask = ({ attempt }: Charge) => Promise.resolve(said[attempt - 1] as VerifyChargeAnswer);
      const { of: page, answer } = await askAttempts(third, ask, { inEveryMode: false });
      expect([present, page.attempt, answer]).toEqual([present, 2, unknown]);
    }
  });

  test('is the last one that is asked about if the provider answers no question', async () => {
    const attempts: number[] = [];
    const ask = ({ attempt }: Charge): Promise<VerifyChargeAnswer> => {
      attempts.push(attempt);
      return Promise.resolve({ ...trace, kind: 'unknown', reason: 'timeout' });
    };
    await askAttempts(third, ask, { inEveryMode: false });
    expect(attempts).toEqual([1]);
  });
});

describe('a customer who confirms an earlier attempt after its decline, and whose message is lost', () => {
  const waiting = transition(sent(merchantCharge()), refused()).next;
  const second = sent(waiting, days(1));
  const done = transition(second, paidFact({ attempt: 2, feeMinor: null })).next;

  test('has paid the charge, which is not tried again', async () => {
    const { charge, report } = await compared(waiting, [1]);
    expect(charge).toMatchObject({ status: 'completed', attempt: 1, next_attempt_at: null });
    expect(report).toMatchObject({ differing: 1, settled: 1 });
  });

  test('has paid twice if the next attempt was paid too: that is in suspense, and calls an operator', async () => {
    const { charge, report } = await compared(done, [1, 2]);
    expect(charge.suspended).toMatchObject([{ attempt: 1, amount_minor: AMOUNT }]);
    expect(charge.attention?.reason).toContain('two attempts were paid');
    expect(report.differing).toBe(1);
    const again = await compared(charge, [1, 2]);
    expect(again.report.differing).toBe(0);
    const withFee = await compared(charge, [1, 2], 100n);
    expect(withFee.charge.suspended).toMatchObject([{ attempt: 1, fee_minor: 100n }]);
  });

  test('does not hide what becomes of the payment that completed the charge', async () => {
    const { charge } = await compared(done, [1, 2]);
    const { report } = await compared(charge, [1]);
    expect(report.differing).toBe(1);
  });

  test('has paid twice if the next attempt was submitted, and is found to be paid', async () => {
    const early = transition(second, paidFact({ attempt: 1, feeMinor: null })).next;
    const { charge, report } = await compared(early, [1, 2]);
    expect(charge.suspended).toMatchObject([{ attempt: 2, amount_minor: AMOUNT }]);
    expect(charge).toMatchObject({ attempt: 1, open_attempt: null, monitor_until: null });
    expect(report.differing).toBe(1);
    expect((await compared(early, [1])).report.differing).toBe(0);
  });

  test('has paid twice if an attempt between the paid one and the last was paid too', async () => {
    const third = sent(transition(second, refused({ attempt: 2 }), days(1)).next, days(3));
    const failed = transition(third, refused({ attempt: 3, decline: 'hard' }), days(3)).next;
    const first = transition(failed, paidFact({ attempt: 1, feeMinor: null })).next;
    expect(first).toMatchObject({ status: 'completed', attempt: 1, open_attempt: null });
    const { charge, report } = await compared(first, [1, 2]);
    expect(charge.suspended).toMatchObject([{ attempt: 2, amount_minor: AMOUNT }]);
    expect(report.differing).toBe(1);
    expect((await compared(charge, [1, 2])).report.differing).toBe(0);
    expect((await compared(first, [1])).report.differing).toBe(0);
    expect((await compared(first, [1, 2, 3])).charge.suspended).toMatchObject([{ attempt: 2 }]);
  });

  test('has paid nothing if the provider knows of no payment', async () => {
    const { charge, report } = await compared(waiting, []);
    expect([charge.version, report.differing]).toEqual([waiting.version, 0]);
  });
});
