import { z } from 'zod';
import {
  currency,
  dateOf,
  domain,
  numericId,
  optionalAmount,
  reference,
  text,
  time,
  word,
} from './fields.js';
import { chargeReferences } from './references.js';

/** A dispute. `refund_amount` and `currency` may be null; the transaction has both. */
export const disputeData = z.looseObject({
  id: numericId,
  refund_amount: optionalAmount,
  currency: currency.nullish().catch(null),
  status: word,
  resolution: text,
  category: text,
  domain,
  transaction: z.looseObject({
    id: numericId,
    reference,
    amount: optionalAmount,
    currency: currency.nullish().catch(null),
    status: text,
    domain,
  }),
  dueAt: time,
  due_at: time,
});

/** A parsed dispute. */
export type DisputeData = z.infer<typeof disputeData>;

/** We must answer. In every other state nobody waits for us, whatever time the dispute has. */
const OURS_TO_ANSWER = 'awaiting-merchant-feedback';
const OPEN: ReadonlySet<string> = new Set([OURS_TO_ANSWER, 'awaiting-bank-feedback', 'pending']);

type DisputeState = { state: 'open' | 'won' } | { state: 'lost'; byReversal?: true };

/**
 * The state of a dispute; null for a word that is in no table, such as `archived`. A declined claim is won, unless the
 * transaction was reversed all the same. A full refund reverses a transaction too, and the dispute does not tell the two apart.
 */
function stateOf({ status, resolution, transaction }: DisputeData): DisputeState | null {
  if (OPEN.has(status)) return { state: 'open' };
  if (status !== 'resolved') return null;
  if (resolution === 'merchant-accepted' || resolution === 'auto-accepted') {
    return { state: 'lost' };
  }
  if (resolution !== 'declined') return null;
  return transaction.status === 'reversed' ? { state: 'lost', byReversal: true } : { state: 'won' };
}

/** The dispute in our terms; null if its state or its amount cannot be read, or if the charge is not ours. */
export function disputeOf(dispute: DisputeData) {
  const { transaction } = dispute;
  const charge = chargeReferences.toOurs(transaction.reference);
  const state = stateOf(dispute);
  const amountMinor = dispute.refund_amount ?? transaction.amount ?? null;
  if (charge === null || state === null || amountMinor === null) return null;
  return {
    id: dispute.id,
    charge: { reference: charge, handle: transaction.id },
    amountMinor,
    currency: dispute.currency ?? transaction.currency ?? 'NGN',
    ...state,
    funds: 'with_us' as const,
    reason: reasonOf(dispute.category),
    dueAt: dispute.status === OURS_TO_ANSWER ? dateOf(dispute.dueAt, dispute.due_at) : null,
  };
}

/** The category is a word of a list; any other text is dropped. */
const reasonOf = (category: string | null | undefined): string | null =>
  category != null && /^[a-z][a-z_-]{0,39}$/.test(category) ? category : null;
