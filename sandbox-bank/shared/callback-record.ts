/** Every event that the sandbox bank delivers by callback, as named on the wire. */
export type EventName =
  | TransferEventName
  | CardEventName
  | AcquirerEventName
  | AccountEventName
  | IdentityEventName
  | BillEventName;

/** Events of transfers; `transfer.pending` is delivered only for accounts whose callbacks arrive out of order. */
export type TransferEventName =
  'transfer.paid' | 'transfer.refused' | 'transfer.reversed' | 'transfer.pending';

/** Events of cards, fundings, authorizations and disputes of payments. */
export type CardEventName =
  | 'card.issued'
  | 'card.state_changed'
  | 'card.funding_pending'
  | 'card.funded'
  | 'card.funding_refused'
  | 'card.funding_reversed'
  | 'card.unload_pending'
  | 'card.unloaded'
  | 'card.unload_refused'
  | 'card.unload_reversed'
  | 'card.declined'
  | 'card.authorization_advice'
  | 'card.cleared'
  | 'card.authorization_reversed'
  | 'card.authorization_expired'
  | 'card.refunded'
  | 'card.refund_reversed'
  | 'card.corrected'
  | 'card.authorization_updated'
  | 'card.dispute_submitted'
  | 'card.dispute_refused'
  | 'card.dispute_credited'
  | 'card.dispute_credit_reversed'
  | 'card.dispute_won'
  | 'card.dispute_lost'
  | 'card.dispute_withdrawn';

/** Events of charges and refunds. */
export type AcquirerEventName =
  | 'charge.pending'
  | 'charge.paid'
  | 'charge.declined'
  | 'charge.abandoned'
  | 'charge.cancelled'
  | 'charge.disputed'
  | 'charge.dispute_won'
  | 'charge.dispute_lost'
  | 'setup.saved'
  | 'setup.declined'
  | 'setup.cancelled'
  | 'refund.pending'
  | 'refund.refunded'
  | 'refund.refused'
  | 'refund.returned'
  | 'refund.needs_account';

/** Events of virtual accounts and deposits. */
export type AccountEventName =
  'account.opened' | 'account.refused' | 'account.closed' | 'deposit.received' | 'deposit.reversed';
/** Events of identity checks. */
export type IdentityEventName = 'check.verified' | 'check.rejected' | 'check.failed';

/** Events of bills. */
export type BillEventName = 'bill.pending' | 'bill.paid' | 'bill.refused' | 'bill.reversed';

/** The record that an event describes, by its kind and number. */
export type Subject =
  | { transfer: number }
  | { card: number }
  | { funding: number }
  /** `from`: the event reports all messages from this one on. */
  | { authorization: number; message: number; from?: number }
  | { cardDispute: number; message: number }
  | { charge: number }
  | { refund: number }
  | { account: number }
  | { deposit: number }
  | { check: number }
  | { bill: number }
  | { dispute: number };

/** One delivery of an event to the client; two deliveries of one event have the same `id`. */
export type CallbackRecord = {
  kind: 'callback';
  delivery: number;
  id: string;
  event: EventName;
  occurred_at: number;
  not_before: number;
} & Subject;

const STALE = new Set<EventName>([
  'transfer.pending',
  'card.funding_pending',
  'card.unload_pending',
  'charge.pending',
  'refund.pending',
  'bill.pending',
]);

/** True of events that report the state before the outcome; they are delivered late to test the client's ordering. */
export function isStale({ event }: CallbackRecord): boolean {
  return STALE.has(event);
}
