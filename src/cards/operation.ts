import type { PursuedRecord } from '../pursuits/record.js';

/**
 * Everything that the issuer is told about a card. Tenants see funding, locks and closing; issuing shows as the card
 * itself, and `unwind` takes back a just-in-time funding that was not confirmed in time.
 */
export const CARD_OPERATION_TYPES = [
  'fund',
  'jit_fund',
  'auto_reload',
  'lock',
  'unlock',
  'close',
  'issue',
  'unwind',
] as const;
export type CardOperationType = (typeof CARD_OPERATION_TYPES)[number];

/** An operation as it is stored. Amounts in kobo. */
export type CardOperation = PursuedRecord & {
  card: string;
  type: CardOperationType;
  /** Unique among the tenant's operations: `<card>/<transaction reference>`, or its own id where it has none. */
  reference: string;
  /** The tenant's name for it, unique for each card. */
  transaction_reference: string | null;
  /** Null where no money moves. */
  amount_minor: bigint | null;
  currency: 'NGN';
  reason: string | null;
  request_id: string | null;
  metadata: Record<string, unknown> | null;
  failure: { code: string; message: string } | null;
  /** Of a lock, an unlock or a closing: which of the card's control numbers it is. */
  number: number | null;
  /** Of a just-in-time funding: when it has failed for who asked for it. */
  deadline_at: Date | null;
  /** Of an unwinding: the funding that it takes back, whose hold it has. */
  unwinds: string | null;
  /** A funding that was proven after its hold had been released stands in `suspense`. */
  in_suspense: boolean;
  completed_at: Date | null;
  reversed_at: Date | null;
};

export const operationReference = (card: string, transactionReference: string) =>
  `${card}/${transactionReference}`;
