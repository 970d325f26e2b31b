import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { chargeReferences } from '../../src/core/providers/paystack/references.js';
import type { PaymentProvider } from '../../src/core/providers/payment-provider.js';
import { describePaymentProvider } from '../contract/payment-provider.js';
import type { PaymentWays } from '../contract/payment-subject.js';
import type { Fault } from '../fakes/paystack/plans.js';
import type { SavedOutcome } from '../fakes/paystack/records.js';
import { eventually } from '../support/eventually.js';
import { banksFor, settingsFor, startFakeWithReceiver } from './support.js';

/** Below the time limit of a contract's harness, and enough for a slow machine. */
const TIMEOUT_MS = 1_000;

function adapterFor(url: string) {
  const settings = settingsFor(url, TIMEOUT_MS);
  return createPaystackPayments(settings, banksFor(settings));
}

type Fake = Awaited<ReturnType<typeof startFakeWithReceiver>>['fake'];
const { toTheirs } = chargeReferences;

/** The faults of the calls of a scenario, one after the other; no fault after the last. */
const FAULTS: Record<string, readonly Fault[]> = {
  withoutAnswer: ['hang_after'],
  lost: ['hang'],
  failingFirst: ['error_500', 'error_500', 'error_500'],
  throttledFirst: ['throttle_seconds'],
};

/** The outcomes of the charges of a saved method in a scenario. */
const OUTCOMES: Record<string, readonly SavedOutcome[]> = {
  declinedHard: ['expired'],
  declinedSoft: ['insufficient_funds'],
  declinedSoftTwice: ['insufficient_funds', 'insufficient_funds'],
  pending: ['pending'],
  later: ['pending'],
  anotherAmount: ['pending'],
  redirected: ['paused'],
  surcharged: ['pending'],
};

/** The adapter, for whose next call the fake gets what the end of the order's client reference stands for. */
function steered(adapter: PaymentProvider, fake: Fake): PaymentProvider {
  const calls = new Map<string, number>();
  /** The scenario of a call, after its fault was planned, and the number of this call in it. */
  function begin(call: string, clientReference: string) {
    const scenario = clientReference.slice(clientReference.indexOf('-') + 1);
    const nth = calls.get(clientReference) ?? 0;
    calls.set(clientReference, nth + 1);
    const fault = FAULTS[scenario]?.[nth];
    if (fault) fake.plan(call, fault);
    return { scenario, nth };
  }
  return {
    ...adapter,
    openPage(order, signal) {
      if (!signal.aborted) begin('initialize', order.clientReference);
      return adapter.openPage(order, signal);
    },
    async confirmCharge(order, signal) {
      if (signal.aborted) return adapter.confirmCharge(order, signal);
      const { scenario, nth } = begin('charge', order.clientReference);
      const outcome = OUTCOMES[scenario]?.[nth];
      if (outcome) fake.setNext(order.method, outcome);
      const answer = await adapter.confirmCharge(order, signal);
      if (scenario === 'later') fake.pay(toTheirs(order.reference));
      if (scenario === 'anotherAmount') fake.pay(toTheirs(order.reference), { amount: 299_000 });
      if (scenario === 'surcharged') fake.pay(toTheirs(order.reference), { surcharge: 4_500 });
      return answer;
    },
    refund(order, signal) {
      begin('refund', order.clientReference);
      return adapter.refund(order, signal);
    },
  };
}

const notFound = { kind: 'rejected', code: 'charge_not_found' };
const noMethod = { kind: 'rejected', code: 'authorization_not_found', scope: 'request' };

/** Paystack's ways. */
const WAYS: PaymentWays = {
  page: { handle: expect.any(String), expiresAt: expect.any(Date) },
  unpaid: { kind: 'abandoned' },
  adds: ['trxref'],
  events: { paid: 'charge.success', refunded: 'refund.processed' },
  cardBank: 'TEST BANK',
  declinedPage: {
    state: { kind: 'pending', awaits: 'customer', lastDecline: { decline: 'soft' } },
    event: null,
  },
  leftPage: { state: { kind: 'abandoned' }, event: null },
  singleUse: 'left_out',
  accountsOnPages: false,
  setup: { type: 'bank_account', account: '0123456100', bankCode: '058' },
  repeats: 'conflict',
  revoked: noMethod,
  noMethod,
  revokedAgain: 'not_found',
  refunds: {
    outcomes: 'later',
    chargeHandle: expect.stringMatching(/^\d+$/),
    failedLate: 'rejected',
    exceeds: { kind: 'rejected_temporarily', fault: 'bad_request' },
    notPaid: notFound,
  },
  signsTime: false,
};

const COMMON = {
  later: 'later',
  withoutAnswer: 'withoutAnswer',
  lost: 'lost',
  failingFirst: 'failingFirst',
  throttledFirst: 'throttledFirst',
};
const CHOICES = { pay: 'pay', pay_once: 'pay', be_declined: 'decline', leave: 'leave' };
/** Events that report no outcome. */
const UNDER_WAY = new Set(['refund.pending', 'refund.processing']);

/** Throws if an act at the desk was none. */
function happened(result: unknown, act: string): void {
  if (!result) throw new Error(`${act} is not possible`);
}

describePaymentProvider('paystack', async () => {
  const started = await startFakeWithReceiver();
  const { fake, receiver } = started;
  // The port's events are complete; golden examples and refunds/unmarked-reports.proof.test.ts have the other forms.
  fake.setRefundForm('noted');
  return {
    provider: steered(adapterFor(fake.url), fake),
    unreachable: adapterFor('http://127.0.0.1:1'),
    pages: { ...COMMON, page: 'page' },
    charges: {
      ...COMMON,
      paid: 'paid',
      declinedHard: 'declinedHard',
      declinedSoft: 'declinedSoft',
      declinedSoftTwice: 'declinedSoftTwice',
      pending: 'pending',
      anotherAmount: 'anotherAmount',
      redirected: 'redirected',
      surcharged: 'surcharged',
    },
    refunds: {
      ...COMMON,
      refunded: 'refunded',
      refused: 'refused',
      pending: 'pending',
      needsAccount: 'needsAccount',
    },
    refundAmounts: { refused: 100_013n, needsAccount: 100_012n },
    refusals: { hard: 'expired_card', soft: 'insufficient_funds', page: '', refund: null },
    ways: WAYS,
    desk: {
      dispute: async (reference, step) => {
        const theirs = toTheirs(reference);
        if (step === 'opened') return happened(fake.openDispute(theirs), step);
        const { id } = fake.transaction(theirs) ?? { id: 0 };
        const dispute = fake.disputes().find(({ transaction }) => transaction === id);
        const resolution = step === 'won' ? 'declined' : 'merchant-accepted';
        happened(fake.resolveDispute(dispute?.id ?? 0, resolution), step);
      },
      refund: async (reference, amountMinor) =>
        happened(fake.refundAtDesk(toTheirs(reference), Number(amountMinor)), 'a refund'),
      failRefund: async ({ id }) => happened(fake.moveRefund(id, 'failed'), 'a failure'),
    },
    async act(url, act) {
      if (act === 'pay_once') {
        const page = fake.transactions().find(({ accessCode }) => url.endsWith(String(accessCode)));
        fake.pay(page?.reference ?? '', { reusable: false });
        return null;
      }
      const body = new URLSearchParams({ choice: CHOICES[act] });
      const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
      return response.headers.get('location');
    },
    callbacksAbout: (reference, count) =>
      eventually('the messages arrive', () => {
        const found = receiver.received.filter(
          ({ raw, event }) => raw.includes(`"${toTheirs(reference)}"`) && !UNDER_WAY.has(event),
        );
        return found.length < count ? undefined : found.slice(0, count);
      }),
    close: () => started.close(),
  };
});
