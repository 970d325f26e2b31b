import type { PaymentProvider, VerifyChargeAnswer } from '../../core/providers/payment-provider.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  reconciledBy,
  verdictOf,
  type ComparedRecords,
  type Described,
  type Reconciled,
} from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { kindOf } from '../../core/reconciliation/payment-answers.js';
import { paymentRateLimitKey } from '../../platform/temporal/queues.js';
import type { Database } from '../../platform/database/client.js';
import { aboutAttempt, paidMinorOf, statusOf, type Charge } from './record.js';
import { askAttempts, type ChargeCalls } from './provider-calls.js';
import type { Charges } from './store.js';

type Deps = {
  charges: {
    store: Charges;
    providerCalls: Pick<ChargeCalls, 'verify'>;
    starter: { notifyChangedSoon(charge: Charge): void };
  };
  /** Reads the refunds and disputes of a charge that was paid back, and books those that no message told. */
  disputes: { readTakenBack(charge: Charge, signal: AbortSignal): Promise<void> };
  database: Database;
  providers: { payment(name: string): PaymentProvider };
};

/** Charges, as they are compared with their providers. */
export const reconciledCharges = (deps: Deps): Reconciled =>
  reconciledBy(compared(deps), (scope, from) =>
    recordsSince(deps.database.db.collection<Charge>('charges'), scope, from),
  );

const compared = ({
  charges: { store, providerCalls, starter },
  disputes,
  providers,
}: Deps): ComparedRecords<Charge, Answer> => ({
  kind: 'charges',
  rateLimitKey: paymentRateLimitKey,
  get: store.get,
  async ask(charge, signal) {
    const { verifyCharge } = providers.payment(charge.provider);
    const verify = (of: Charge) => verifyCharge(aboutAttempt(of), signal);
    const { of, answer } = await askAttempts(charge, verify, { inEveryMode: true });
    return of === charge ? answer : { ...answer, other: of.attempt };
  },
  agrees: chargeAgrees,
  describe: describeCharge,
  /** Asks once more, because the answer of a payment brings the saved method, which is committed with it. */
  async apply(charge) {
    const { signal } = new AbortController();
    const { kind } = await providerCalls.verify(charge, signal, { inEveryMode: true });
    if (kind === 'reversed') await disputes.readTakenBack(charge, signal);
    starter.notifyChangedSoon(charge);
    return verdictOf(charge, await store.get(charge.tenant_id, charge._id));
  },
});

/** An answer about a charge. `other`: the attempt that it is about, if that is not the present one. */
type Answer = VerifyChargeAnswer & { other?: number };

/** Answers that leave an open charge open. */
const OPEN_ANSWERS: ReadonlySet<VerifyChargeAnswer['kind']> = new Set([
  'pending',
  'abandoned',
  'not_found',
]);

/** True if the provider's answer allows the state of a charge. */
export function chargeAgrees(charge: Charge, answer: Answer): boolean {
  if (answer.other !== undefined && answer.kind !== 'unknown') return answer.kind !== 'succeeded';
  if (isOpen(charge)) return OPEN_ANSWERS.has(answer.kind);
  if (charge.status === 'failed') {
    const isPaid = answer.kind === 'succeeded' || answer.kind === 'reversed';
    return !isPaid || charge.suspended.length > 0 || charge.returned_attempts.length > 0;
  }
  const paidMinor = paidMinorOf(charge);
  if (answer.kind === 'succeeded') {
    const lacksFee = charge.provider_fee_minor === null && answer.feeMinor !== null;
    return answer.amountMinor === paidMinor && !lacksFee;
  }
  return answer.kind === 'reversed' && charge.refunded_minor + charge.disputed_minor >= paidMinor;
}

const WORDS: Partial<Record<VerifyChargeAnswer['kind'], string>> = {
  succeeded: 'paid',
  pending: 'not paid',
  abandoned: 'not paid',
  declined: 'declined',
  rejected: 'refused',
  cancelled: 'cancelled',
  reversed: 'paid back',
  not_found: 'unknown',
};

function describeCharge(charge: Charge, answer: VerifyChargeAnswer): Described {
  const isOther = answer.kind === 'succeeded' && answer.amountMinor !== paidMinorOf(charge);
  const status = statusOf(charge);
  const difference = `${status} with us, ${WORDS[answer.kind] ?? answer.kind} at the bank`;
  return {
    breakKind: kindOf(answer, isOther),
    amountMinor: charge.amount_minor,
    ours: status,
    difference: isOther ? `${difference}, of another amount` : difference,
  };
}
