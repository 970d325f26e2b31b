import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { accounts, type Hold } from '../../core/ledger/posting.js';
import { newId } from '../../shared/ids.js';
import {
  failureWith,
  freshSubmission,
  type InstructionRecord,
  timelineEntry,
} from '../../core/instructions/instruction.js';

/**
 * Every type of instruction to a card issuer. `issue` issues the card. `unload` takes the balance of a closed or expired
 * card back from the issuer. `state_reset` sets the state that a card should have at the issuer, after somebody else than the
 * tenant changed it. `dispute` submits a dispute of a payment, and `dispute_withdrawal` withdraws it. `fund_reversal` reverses
 * a just-in-time funding that was not confirmed by its deadline. Tenants see the other types as operations; see `SHOWN_TYPES`.
 */
const CARD_OPERATION_TYPES = [
  'fund',
  'jit_fund',
  'auto_reload',
  'lock',
  'unlock',
  'close',
  'issue',
  'fund_reversal',
  'unload',
  'state_reset',
  'dispute',
  'dispute_withdrawal',
] as const;
/** A type of instruction to a card issuer. */
export type CardOperationType = (typeof CARD_OPERATION_TYPES)[number];

/** An operation on a card as it is stored. Amounts are in kobo. */
export type CardOperation = InstructionRecord & {
  card_id: string;
  type: CardOperationType;
  /** Unique for the tenant: `<card id>/<transaction reference>`, or the operation's id if it has no such reference. */
  reference: string;
  /** The tenant's own reference, unique for the card. */
  transaction_reference: string | null;
  /** Null if no money moves. */
  amount_minor: bigint | null;
  currency: 'NGN';
  reason: string | null;
  request_id: string | null;
  metadata: Record<string, unknown> | null;
  failure: { code: string; message: string } | null;
  /** The `state_control.sequence` of the card that a lock, an unlock or a closing has set. */
  state_sequence: number | null;
  /** The time at which a just-in-time funding fails if it is not confirmed. */
  deadline_at: Date | null;
  /** The funding that a fund reversal reverses. The reversal owns the hold of that funding. */
  reverses_operation_id: string | null;
  /** True while a funding that succeeded after the release of its hold is booked in suspense. */
  in_suspense: boolean;
  /** The dispute that is submitted or withdrawn; missing for all other operations. */
  dispute_id?: string;
  /**
   * The amount that an unloading has given back, if it is less than was asked for; of a funding, the amount that the issuer has
   * funded and an operator has accepted, if it is another one.
   */
  settled_amount_minor?: bigint | null;
  /** The part of what an unloading had given back that the issuer has taken back, and that is booked; missing if none is. */
  taken_back_minor?: bigint;
  /** The amount in the latest report about an unloading that contradicts what was booked then; missing if there was none. */
  contradicting_minor?: bigint;
  completed_at: Date | null;
  reversed_at: Date | null;
};

/** The stored `reference` of an operation with a transaction reference of the tenant. */
export const operationReference = (card: string, transactionReference: string) =>
  `${card}/${transactionReference}`;

/** An operation that moves money: a funding, a fund reversal or an unloading. */
export type Funding = CardOperation & { amount_minor: bigint };

/** The amount that is booked: the requested one, or the settled one in its place. */
export const bookedMinor = ({ amount_minor: amount, settled_amount_minor: settled }: Funding) =>
  settled ?? amount;

/**
 * The hold of a funding. A capture moves the money to the card. A fund reversal ends the hold of its funding, so the
 * postings of both are named after the funding.
 */
export const fundingHold = (funding: Funding): Hold => ({
  id: funding.reverses_operation_id ?? funding._id,
  tenantId: funding.tenant_id,
  heldAt: funding.created_at,
  provider: funding.provider,
  amountMinor: funding.amount_minor,
  settledMinor: funding.settled_amount_minor ?? null,
  paidTo: accounts.cardAvailable(funding.card_id),
  captured: [
    { account: accounts.cardAvailable(funding.card_id), amountMinor: funding.amount_minor },
  ],
});

/**
 * The same for a reversal, which returns what is left on the card: first the part beyond the requested amount, which suspense has
 * paid and its issuer takes back, then that of the wallet. The spent part stays spent.
 */
export function restOnCard(funding: Funding, leftMinor: bigint): Hold {
  const fundedMinor = bookedMinor(funding);
  const beyondMinor = fundedMinor > funding.amount_minor ? fundedMinor - funding.amount_minor : 0n;
  const amountMinor = leftMinor > beyondMinor ? leftMinor - beyondMinor : 0n;
  const captured = [{ account: accounts.cardAvailable(funding.card_id), amountMinor }];
  return { ...fundingHold(funding), amountMinor, settledMinor: leftMinor, captured };
}

/**
 * The step of the posting for a part of an unloading that the issuer has taken back. The amount that was taken back so far follows, so
 * that each part has a step of its own.
 */
export const PART_REVERSAL = 'part-reversal-';

/** The types that tenants see as operations. */
export const SHOWN_TYPES = [
  'fund',
  'jit_fund',
  'auto_reload',
  'unload',
  'lock',
  'unlock',
  'close',
] as const;
/** The types that move money from the wallet to a card. */
export const FUNDING_TYPES = ['fund', 'jit_fund', 'auto_reload'] as const;

/** True for operations that tenants see. */
export const isShown = ({ type }: Pick<CardOperation, 'type'>): boolean =>
  (SHOWN_TYPES as readonly string[]).includes(type);

/** True for operations that move money from the wallet to a card. */
export const isFunding = ({ type }: Pick<CardOperation, 'type'>): boolean =>
  (FUNDING_TYPES as readonly string[]).includes(type);

/** Created by the system, not by an API request. */
const isCreatedBySystem = ({ type }: Pick<CardOperation, 'type'>) =>
  type === 'auto_reload' || type === 'fund_reversal' || type === 'unload' || type === 'state_reset';

type NewOperation = Pick<CardOperation, 'tenant_id' | 'card_id' | 'type' | 'provider'> &
  Partial<Omit<CardOperation, 'timeline' | 'next_check_at'>>;

/** A new operation with default values for the fields that are not given. `detail` is the first entry of its timeline. */
export function newOperation(given: NewOperation, now: Date, detail: string): CardOperation {
  const id = given._id ?? newId('cardOperation');
  return {
    _id: id,
    version: 1,
    event_sequence: 0,
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
    ...freshSubmission(now),
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

/** The failure that tenants see for a code. Unknown codes have a general message. */
export const operationFailure = failureWith(
  {
    not_eligible: 'The issuer does not issue cards to this customer.',
    funding_refused: 'The issuer refused the funding.',
    card_locked: 'The card is locked at the issuer.',
    card_closed: 'The card is closed at the issuer.',
    card_expired: 'The card has expired.',
    locked_by_issuer: 'The issuer has locked the card.',
    locked_by_operator: 'An operator has locked the card.',
    deadline_exceeded: 'The issuer had not confirmed the funding in time.',
    dispute_refused: 'The issuer refused the dispute.',
    not_withdrawable: 'The issuer does not withdraw the dispute.',
    already_decided: 'The dispute was decided before.',
    superseded: 'A later change of the card replaced it.',
    reversed: 'The funding was made and then taken back by the issuer.',
    operator: 'An operator ended it.',
  },
  'The issuer refused.',
);

/** The index of the operations with an amount, by which a reconciliation reads those of some types since a time. */
export const OPERATIONS_BY_TIME = { tenant_id: 1, type: 1, created_at: 1, _id: 1 } as const;

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
    { key: OPERATIONS_BY_TIME, partialFilterExpression: { amount_minor: { $type: 'long' } } },
    ...supervisionIndexes,
  ],
});

/** The reference that an operation takes, which no other operation of its tenant may have. */
export const referenceOf = ({
  tenant_id: tenantId,
  reference,
}: Pick<CardOperation, 'tenant_id' | 'reference'>) =>
  ({ collection: cardOperations, tenantId, reference }) as const;
