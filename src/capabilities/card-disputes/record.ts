import { collection } from '../../core/commit/collection.js';
import type { CardDisputeReason } from '../../core/providers/card-issuer.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { newId } from '../../shared/ids.js';
import type { CardAuthorization } from '../card-authorizations/record.js';
import { newOperation, operationReference, type CardOperation } from '../cards/card-operation.js';
import type { CardDisputeFact } from './facts.js';

/** The states of a dispute. */
export const CARD_DISPUTE_STATUSES = [
  'pending',
  'open',
  'won',
  'lost',
  'cancelled',
  'failed',
] as const;
/** The state of a dispute. */
export type CardDisputeStatus = (typeof CARD_DISPUTE_STATUSES)[number];

/** The reason of attention while the issuer does not say what became of an open dispute. */
export const ISSUER_SILENT =
  'the issuer has not said for more than a day what became of the dispute';

/**
 * A dispute of a card payment: the tenant demands the money back, and the issuer pursues it. Amounts in kobo. Its operations
 * `dispute` and `dispute_withdrawal` are the instructions to the issuer.
 */
export type CardDispute = {
  _id: string;
  tenant_id: string;
  version: number;
  event_sequence: number;
  status: CardDisputeStatus;
  provider: string;
  card_id: string;
  authorization_id: string;
  /** The issuer's name of the payment. */
  token: string;
  /** The operation that submits it. Its id is our reference at the issuer. */
  operation_id: string;
  /** The latest operation that withdraws it. */
  withdrawal_id: string | null;
  /** The state of the tenant's wish to cancel it. */
  cancellation: 'requested' | 'refused' | null;
  amount_minor: bigint;
  /** The amount that the issuer has given, and not taken back. */
  credited_minor: bigint;
  currency: 'NGN';
  reason: CardDisputeReason;
  /** The tenant's own words; null once the customer is erased. */
  explanation: string | null;
  transaction_reference: string | null;
  failure: { code: string; message: string } | null;
  /** All facts in the order of arrival; see `balanceAfter`. */
  facts: CardDisputeFact[];
  /** When the issuer is asked what became of the dispute; null unless it is open. */
  verify_at: Date | null;
  /** The time at which the dispatcher starts the workflow that asks, if it does not run; null unless it is open. */
  next_check_at: Date | null;
  /** Since when the issuer has not answered that question; null if it has. */
  silent_since: Date | null;
  /** Set while the issuer is silent for long, or the workflow makes no progress. */
  attention: { since: Date; reason: string } | null;
  created_at: Date;
  updated_at: Date;
  decided_at: Date | null;
};

/** The indexes of the list of disputes. Each has its complete sort order. */
export const CARD_DISPUTE_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byAuthorization: { tenant_id: 1, authorization_id: 1, created_at: -1, _id: -1 },
  byCard: { tenant_id: 1, card_id: 1, created_at: -1, _id: -1 },
} as const;

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };

/** The collection of disputes of card payments. */
export const cardDisputes = collection<CardDispute>('card_disputes', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'card_id', 'authorization_id', 'amount_minor'],
    properties: {
      tenant_id: string,
      card_id: string,
      authorization_id: string,
      status: { enum: [...CARD_DISPUTE_STATUSES] },
      amount_minor: { ...long, minimum: 1 },
      credited_minor: { ...long, minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [
    ...Object.values(CARD_DISPUTE_INDEXES).map((key) => ({ key })),
    { key: { authorization_id: 1 } },
    // Of cards whose customer is erased.
    { key: { card_id: 1 } },
    ...supervisionIndexes,
  ],
});

/** The fields of a new dispute that its creator chooses. */
export type NewCardDispute = {
  reason: CardDisputeReason;
  explanation: string;
  transactionReference: string | null;
};

/** The record of a dispute with everything that does not depend on the commit, and the operation that submits it. */
export function newCardDispute(
  authorization: CardAuthorization,
  { reason, explanation, transactionReference }: NewCardDispute,
  now: Date,
): { dispute: Omit<CardDispute, 'amount_minor'>; operation: CardOperation } {
  const { tenant_id, card_id, provider, token, _id: authorization_id } = authorization;
  const id = newId('cardDispute');
  const operation = newOperation(
    {
      tenant_id,
      card_id,
      type: 'dispute',
      provider,
      dispute_id: id,
      transaction_reference: transactionReference,
      ...(transactionReference !== null && {
        reference: operationReference(card_id, transactionReference),
      }),
    },
    now,
    'the dispute is submitted to the issuer',
  );
  const dispute = {
    _id: id,
    tenant_id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    provider,
    card_id,
    authorization_id,
    token,
    operation_id: operation._id,
    withdrawal_id: null,
    cancellation: null,
    credited_minor: 0n,
    currency: 'NGN',
    reason,
    explanation,
    transaction_reference: transactionReference,
    failure: null,
    facts: [],
    verify_at: null,
    next_check_at: null,
    silent_since: null,
    attention: null,
    created_at: now,
    updated_at: now,
    decided_at: null,
  } as const;
  return { dispute: { ...dispute, facts: [] }, operation };
}

/** True if a dispute counts in what its payment has as disputed. */
export const isCounted = ({ status }: Pick<CardDispute, 'status'>): boolean =>
  status !== 'failed' && status !== 'cancelled';

/**
 * The amount of a dispute that its issuer has given for good, or may still give: all of it while it is open. If the payment
 * returns by a refund too, the payers have it twice.
 */
export function returnableOf({
  status,
  amount_minor: amount,
  credited_minor: credited,
}: Pick<CardDispute, 'status' | 'amount_minor' | 'credited_minor'>): bigint {
  if (status === 'won') return credited;
  if (status !== 'pending' && status !== 'open') return 0n;
  return credited > amount ? credited : amount;
}
