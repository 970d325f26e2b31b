import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { newId } from '../../shared/ids.js';
import { START_WITHIN_MS, type InstructionRecord } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';

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
  'fund_reversal',
] as const;
export type CardOperationType = (typeof CARD_OPERATION_TYPES)[number];

/** An operation as it is stored. Amounts in kobo. */
export type CardOperation = InstructionRecord & {
  card_id: string;
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
  state_sequence: number | null;
  /** Of a just-in-time funding: when it has failed for who asked for it. */
  deadline_at: Date | null;
  /** Of an unwinding: the funding that it takes back, whose hold it has. */
  reverses_operation_id: string | null;
  /** A funding that was proven after its hold had been released stands in `suspense`. */
  in_suspense: boolean;
  completed_at: Date | null;
  reversed_at: Date | null;
};

export const operationReference = (card: string, transactionReference: string) =>
  `${card}/${transactionReference}`;

/** What tenants see as operations; the others are part of something else. */
export const SHOWN_TYPES = ['fund', 'jit_fund', 'auto_reload', 'lock', 'unlock', 'close'] as const;
export const FUNDING_TYPES = ['fund', 'jit_fund', 'auto_reload'] as const;

export const isShown = ({ type }: Pick<CardOperation, 'type'>): boolean =>
  (SHOWN_TYPES as readonly string[]).includes(type);

export const isFunding = ({ type }: Pick<CardOperation, 'type'>): boolean =>
  (FUNDING_TYPES as readonly string[]).includes(type);

/** What of an operation says which workflow drives it. */
export type OperationKey = Pick<
  CardOperation,
  '_id' | 'type' | 'card_id' | 'reverses_operation_id'
>;

/** An unwinding is driven by the workflow of what it unwinds, orders about a card's state by one for the card. */
export function operationWorkflowId({
  _id,
  type,
  card_id: card,
  reverses_operation_id: reversesOperationId,
}: OperationKey): string {
  switch (type) {
    case 'issue':
      return `card-issuance/${_id}`;
    case 'lock':
    case 'unlock':
    case 'close':
      return `card-state/${card}`;
    default:
      return `card-funding/${reversesOperationId ?? _id}`;
  }
}

/** Nobody asked for it: what a card, or a funding, has come to made it. */
const isCreatedBySystem = ({ type }: Pick<CardOperation, 'type'>) =>
  type === 'auto_reload' || type === 'fund_reversal';

type NewOperation = Pick<CardOperation, 'tenant_id' | 'card_id' | 'type' | 'provider'> &
  Partial<Omit<CardOperation, 'timeline' | 'next_check_at'>>;

/** An operation as it is accepted: what is not given is not there yet. `detail` is its first line on the timeline. */
export function newOperation(given: NewOperation, now: Date, detail: string): CardOperation {
  const id = given._id ?? newId('cardOperation');
  return {
    _id: id,
    version: 1,
    status: 'pending',
    reference: id,
    transaction_reference: null,
    amount_minor: null,
    currency: 'NGN',
    reason: null,
    request_id: null,
    metadata: null,
    failure: null,
    state_sequence: null,
    deadline_at: null,
    reverses_operation_id: null,
    in_suspense: false,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    attention: null,
    monitor_until: null,
    next_check_at: new Date(now.getTime() + START_WITHIN_MS),
    timeline: [
      timelineEntry(now, 'accepted', isCreatedBySystem(given) ? 'bursar' : 'api', { detail }),
    ],
    created_at: now,
    updated_at: now,
    completed_at: null,
    reversed_at: null,
    ...given,
  };
}

const FAILURES: Record<string, string> = {
  not_eligible: 'The issuer gives this customer no card.',
  funding_refused: 'The issuer refused the funding.',
  card_locked: 'The card is locked at the issuer.',
  card_closed: 'The card is closed at the issuer.',
  card_expired: 'The card has expired.',
  deadline_exceeded: 'The issuer had not confirmed the funding in time.',
  superseded: 'A later order about the card took its place.',
  reversed: 'The funding was made and then taken back by the issuer.',
  operator: 'An operator ended it.',
};

/** A failure with our own words for its code; a code that we do not know is still told as it is. */
export const operationFailure = (code: string) => ({
  code,
  message: FAILURES[code] ?? 'The issuer refused.',
});

/** Operations on cards: issuance, funding, states. */
export const cardOperations = collection<CardOperation>('card_operations', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'card_id', 'type', 'version', 'status', 'reference', 'submissions'],
    properties: {
      tenant_id: { bsonType: 'string' },
      card_id: { bsonType: 'string' },
      type: { enum: [...CARD_OPERATION_TYPES] },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      reference: { bsonType: 'string' },
      amount_minor: { bsonType: ['long', 'null'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    { key: { card_id: 1, created_at: -1, _id: -1 } },
    {
      name: 'fundings',
      key: { card_id: 1, type: 1, created_at: -1, _id: -1 },
    },
    nextCheckIndex,
    attentionIndex,
  ],
});
