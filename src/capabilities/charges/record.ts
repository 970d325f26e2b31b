import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import {
  failureWith,
  freshSubmission,
  type InstructionRecord,
  timelineEntry,
} from '../../core/instructions/instruction.js';
import type { AboutCharge, Decline } from '../../core/providers/payment-provider.js';
import { newId } from '../../shared/ids.js';
import type { Customer } from '../payment-tokens/record.js';

/** The customer pays on a page, or the tenant charges a payment token. */
type CaptureMode = 'customer_action_required' | 'merchant_initiated';

/**
 * A charge as it is stored. Amounts in kobo. Tenants see `processing` with a next action as `requires_action`: the request
 * is submitted, and the customer must act.
 */
export type Charge = InstructionRecord & {
  /** The tenant's reference, unique among its charges. Without one, the charge's id. */
  reference: string;
  amount_minor: bigint;
  currency: 'NGN';
  capture_mode: CaptureMode;
  customer: Customer;
  payment_token_id: string | null;
  /** Anybody who reads a public key makes charges with it. Absent for a secret key. */
  made_by?: 'public_key';
  /** The page on which the customer continues; null if no action is needed any more. */
  next_action: { type: 'redirect'; url: string } | null;
  return_url: string | null;
  description: string | null;
  metadata: Record<string, unknown> | null;
  /**
   * The number of the attempt, from 1. Each attempt has a reference of its own at the provider, `<charge>-<attempt>`. A new
   * one begins only after a conclusive decline, with `submissions` at 0 again.
   */
  attempt: number;
  /** The provider's own id of this attempt, where it gave one. */
  handle: string | null;
  /** The time from which this attempt may be submitted; null: at once. */
  next_attempt_at: Date | null;
  first_declined_at: Date | null;
  /** The latest decline on the provider's page, which is still open for another payment method. */
  last_decline: string | null;
  /** The kind of that decline. Absent without one. */
  last_decline_kind?: Decline['decline'];
  /** When its tenant has asked to cancel it. */
  cancel_requested_at: Date | null;
  /** Days after the first soft decline on which the charge is retried. Copied from the tenant at acceptance. */
  dunning_days: number[];
  /** The time at which a charge that waits for its customer fails; null while it does not wait for one. */
  expires_at: Date | null;
  /** The fee that the provider keeps of a completed charge. */
  provider_fee_minor: bigint | null;
  /** The provider's own surcharge, which the customer has paid on top of the amount. */
  surcharge_minor: bigint | null;
  /** The paid amount that an operator has accepted, if it is not the requested one. */
  settled_amount_minor: bigint | null;
  /** Payments that are booked in suspense until an operator decides: of another amount, or of a second attempt. */
  suspended: SuspendedPayment[];
  /**
   * The provider's fees of payments that are not credited, as they are booked: Bursar pays them, also of a payment that is returned.
   * One whose payment is credited leaves the list. Absent until there is one; earlier versions booked none.
   */
  suspense_fees?: { attempt: number; fee_minor: bigint }[];
  /** Refunds at the provider that returned payments from suspense. */
  returned_refunds: string[];
  /**
   * Returns that were proven after the payment had been credited: they count as refunds. Absent until there is one.
   */
  late_returns?: string[];
  /**
   * Refunds of the provider's desk that it reported as failed before it reported them as made: none is recorded. Absent until
   * there is one.
   */
  refused_refunds?: string[];
  /**
   * Failed refunds of the provider's desk that it has not named, and that no recorded refund explains. `event`: the event that
   * reported it, or the key that repeats of its message share. Absent until there is one.
   */
  unnamed_refusals?: { event: string; amount_minor: bigint }[];
  /**
   * Attempts whose whole payment was returned from suspense. A repeated report of such a payment is not booked. The charge
   * fails if its present attempt is among them.
   */
  returned_attempts: number[];
  /**
   * Failed returns that were proven of attempts that another return has taken from suspense (see `SuspendedPayment.returned_by`).
   * If that one is taken back, the payment is returned by these still. Absent without one.
   */
  proven_returns?: { attempt: number; by: string }[];
  /**
   * A later attempt that the provider may have taken, of a charge that an earlier one has paid: it is asked about until it has ended.
   * Null or absent without one.
   */
  open_attempt?: number | null;
  /**
   * The highest attempt of a charge that an earlier one has paid: each attempt up to it may have been paid too. Absent if `attempt` is
   * the highest.
   */
  last_attempt?: number;
  /** Completed refunds, and those in progress. Both together never exceed the amount. */
  refunded_minor: bigint;
  refund_pending_minor: bigint;
  /** Open and lost disputes. */
  disputed_minor: bigint;
  /** The recurring charge and the period that this charge is for. */
  recurring: { id: string; period: number } | null;
  failure: { code: string; message: string } | null;
  completed_at: Date | null;
};

/** A payment of an attempt that is in suspense. */
export type SuspendedPayment = {
  attempt: number;
  amount_minor: bigint;
  /** The provider's fee; null until it is known. */
  fee_minor: bigint | null;
  /** The refund by which an operator returns it. Absent while nobody does. */
  returning?: string;
  /** A failed return of it that was proven while another one was under way. Absent without one. */
  returned_by?: string;
};

/** The fee of an attempt that is booked without a credit; null if none is. */
export const suspenseFeeOf = (
  { suspense_fees: fees = [] }: Pick<Charge, 'suspense_fees'>,
  attempt: number,
): bigint | null => fees.find((each) => each.attempt === attempt)?.fee_minor ?? null;

/** The fees without a credit, with that of an attempt; null: without it. */
export const withSuspenseFee = (
  { suspense_fees: fees = [] }: Pick<Charge, 'suspense_fees'>,
  attempt: number,
  feeMinor: bigint | null,
): Pick<Charge, 'suspense_fees'> => ({
  suspense_fees: [
    ...fees.filter((each) => each.attempt !== attempt),
    ...(feeMinor === null ? [] : [{ attempt, fee_minor: feeMinor }]),
  ],
});

/** True if an operator may accept or return a payment in suspense: no return of it is under way or proven. */
export const isUndecided = ({ returning, returned_by: by }: SuspendedPayment): boolean =>
  returning === undefined && by === undefined;

/** True if a payment in suspense waits for an operator: no return of it is under way. */
export const waitsForOperator = ({ returning }: SuspendedPayment): boolean =>
  returning === undefined;

/** The reason for attention if a payment is reported with the requested amount after a part of it was returned. */
export const RETURNED_PAYMENT =
  'the provider reports the requested amount of a payment that is returned from suspense: look it up there';

/** The reason for attention if a payment in suspense is reported with another amount than is booked. */
export const SUSPENDED_DIFFERS =
  'the provider reports another amount of the payment that is in suspense';

/** The reason for attention if a payment is reported that cannot be booked. */
export const ANOTHER_CURRENCY = 'the provider reports another currency than was requested';

/** Reasons about money that may be at the provider and is nowhere in the books: only an operator ends them. */
const UNBOOKED: ReadonlySet<string> = new Set([
  RETURNED_PAYMENT,
  SUSPENDED_DIFFERS,
  ANOTHER_CURRENCY,
  // The reason of earlier versions for an odd fee: they booked nothing.
  'the provider reports a fee that is not between zero and the amount',
]);

/** True while an operator decides about a payment. Meanwhile nothing is sent: its customer has paid, so nobody charges them again. */
export const hasPaymentInDoubt = ({
  suspended,
  attention,
}: Pick<Charge, 'suspended' | 'attention'>): boolean =>
  suspended.length > 0 || (attention !== null && UNBOOKED.has(attention.reason));

/** As `hasPaymentInDoubt`, for stored charges: they get no submit permit. */
export const IN_DOUBT = [
  { 'suspended.0': { $exists: true } },
  { 'attention.reason': { $in: [...UNBOOKED] } },
];

/**
 * The attention that a charge keeps when another fact decides about it: an operator is called as long as one of its payments in
 * suspense waits for a decision, or an amount that the provider reports is not booked. Else null.
 */
export const attentionOfSuspense = ({
  suspended,
  attention,
}: Pick<Charge, 'suspended' | 'attention'>): Charge['attention'] =>
  suspended.some(waitsForOperator) || (attention !== null && UNBOOKED.has(attention.reason))
    ? attention
    : null;

/** The amount that the customer has paid for a completed charge: refunds never exceed it. */
export const paidMinorOf = ({
  amount_minor,
  settled_amount_minor,
}: Pick<Charge, 'amount_minor' | 'settled_amount_minor'>): bigint =>
  settled_amount_minor ?? amount_minor;

/**
 * The amount that a provider may take back of a completed charge: its desk and the customer's bank return the surcharge too, although
 * it was never ours.
 */
export const reversibleMinorOf = (charge: Charge): bigint =>
  paidMinorOf(charge) + (charge.surcharge_minor ?? 0n);

/**
 * The part of a charge that is neither refunded nor disputed. Only a fact can make it negative, such as a refund that is proven
 * after its hold was released. `ofMinor`: that of the amount that the provider may take back, or of the paid one.
 */
export function leftOf(charge: Charge, ofMinor = paidMinorOf(charge)): bigint {
  const { refunded_minor, refund_pending_minor, disputed_minor } = charge;
  const left = ofMinor - refunded_minor - refund_pending_minor - disputed_minor;
  return left > 0n ? left : 0n;
}

/** The status for tenants: an open charge with a next action is `requires_action`. */
export type ChargeStatus = Charge['status'] | 'requires_action';

/** The status of a charge for tenants. */
export const statusOf = (charge: Pick<Charge, 'status' | 'next_action'>): ChargeStatus =>
  charge.status === 'processing' && charge.next_action !== null ? 'requires_action' : charge.status;

/** The id of the workflow that executes a charge. */
export const chargeWorkflowId = (id: string) => `charge/${id}`;

/** Returns the charge and the attempt of a provider reference, or null if the reference is not ours. */
export function readAttempt(reference: string): { id: string; attempt: number } | null {
  const found = /^(chg_[0-9a-z]{26})-([1-9][0-9]{0,3})$/.exec(reference);
  return found ? { id: String(found[1]), attempt: Number(found[2]) } : null;
}

/** The code of a charge that is not tried again, because an operator decides about a payment of it. */
export const PAYMENT_MISMATCH = 'payment_mismatch';

/** Codes of failures that prove nothing about the provider: a submission may still be executed. */
export const UNPROVEN_FAILURES: ReadonlySet<string> = new Set(['operator', PAYMENT_MISMATCH]);

/** The code of a charge whose token was revoked before it was submitted. */
export const TOKEN_REVOKED = 'token_revoked';

/** Codes of declines after which a token can never be charged again. */
export const NEVER_AGAIN: ReadonlySet<string> = new Set([
  'authorization_revoked',
  'authorization_not_found',
  'expired_card',
  'lost_card',
  'stolen_card',
]);

/** A failure with its message. An unknown code gets a general message. */
export const chargeFailure = failureWith(
  {
    abandoned: 'The customer left without paying.',
    expired: 'The customer did not pay in time.',
    cancelled: 'It was cancelled before it was paid.',
    insufficient_funds: 'The account has not enough money.',
    card_declined: 'The card was declined.',
    expired_card: 'The card has expired.',
    authorization_revoked: 'The customer’s authorization is no longer valid.',
    [TOKEN_REVOKED]: 'The payment token was revoked.',
    recurring_cancelled: 'Its recurring charge was cancelled before it was tried again.',
    not_executed: 'The provider did not execute it, and never will.',
    payment_returned: 'The customer paid another amount, which was returned to them.',
    [PAYMENT_MISMATCH]: 'The customer paid otherwise than was requested, so it is not tried again.',
    operator: 'An operator ended this charge.',
  },
  'The provider declined the charge.',
);

/** The reference of an attempt. An adapter converts it to the characters that its provider allows. */
export const attemptReference = ({ _id, attempt }: Pick<Charge, '_id' | 'attempt'>): string =>
  `${_id}-${attempt}`;

/** The earlier of two times, of which the second may be missing. */
export const earlierOf = (at: Date, other: Date | null): Date =>
  other !== null && other < at ? other : at;

/** The fields of a charge whose attempt (null: the present one) was paid. The provider's id is that of the latest attempt. */
export const atAttempt = (
  { attempt: present, handle, last_attempt: last = present }: AttemptFields,
  attempt: number | null,
): AttemptFields =>
  attempt === null || attempt === present
    ? { attempt: present, handle }
    : { attempt, handle: null, last_attempt: Math.max(last, present) };

type AttemptFields = Pick<Charge, 'attempt' | 'handle' | 'last_attempt'>;

/**
 * An attempt, as its provider is asked about it. The later attempt of a charge that an earlier one has paid may be on a page for its
 * confirmation, of which the ended charge has no trace.
 */
export const aboutAttempt = (
  charge: Pick<
    Charge,
    '_id' | 'attempt' | 'handle' | 'next_action' | 'capture_mode' | 'open_attempt'
  >,
): AboutCharge => ({
  reference: attemptReference(charge),
  handle: charge.handle,
  isOnPage:
    isOfPage(charge) || charge.next_action !== null || charge.attempt === charge.open_attempt,
});

/** True if the customer pays on the provider's page. Each of its attempts is a page. */
export const isOfPage = ({ capture_mode: mode }: Pick<Charge, 'capture_mode'>): boolean =>
  mode === 'customer_action_required';

/** True if the charge waits for its customer: on a page, or for a saved method's confirmation on one whose address was lost. */
export const awaitsCustomer = (
  charge: Pick<Charge, 'next_action' | 'expires_at' | 'capture_mode'>,
): boolean => charge.next_action !== null || (!isOfPage(charge) && charge.expires_at !== null);

/** The indexes of lists. Each has the complete sort order of its list. */
export const CHARGE_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byCustomer: { tenant_id: 1, 'customer.id': 1, created_at: -1, _id: -1 },
} as const;

/** The index of charges that public keys have made, for the bound of those that are open. */
export const MADE_BY_INDEX = { tenant_id: 1, made_by: 1, status: 1 } as const;

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };
const statuses = { enum: ['pending', 'processing', 'completed', 'failed'] };

/** The fields of a new charge that its creator chooses. */
export type NewCharge = Pick<
  Charge,
  | 'tenant_id'
  | 'amount_minor'
  | 'capture_mode'
  | 'customer'
  | 'payment_token_id'
  | 'description'
  | 'metadata'
  | 'provider'
  | 'dunning_days'
> & {
  made_by?: 'public_key';
  /** Without it, the charge's id. */
  reference?: string | undefined;
  return_url?: string | null;
  /** Time for the customer to act. Without it the charge does not wait for a customer. */
  expiresAfterMs?: number;
  recurring?: Charge['recurring'];
};

/** Builds the record of a charge with everything that does not depend on the commit. */
export function newCharge(fields: NewCharge, now: Date): Charge {
  const { reference, return_url = null, recurring = null, expiresAfterMs, ...given } = fields;
  const id = newId('charge');
  const detail = recurring === null ? null : `period ${recurring.period} of ${recurring.id}`;
  return {
    _id: id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    currency: 'NGN',
    reference: reference ?? id,
    return_url,
    recurring,
    next_action: null,
    attempt: 1,
    handle: null,
    first_declined_at: null,
    last_decline: null,
    cancel_requested_at: null,
    expires_at: expiresAfterMs === undefined ? null : new Date(now.getTime() + expiresAfterMs),
    provider_fee_minor: null,
    surcharge_minor: null,
    settled_amount_minor: null,
    suspended: [],
    returned_refunds: [],
    returned_attempts: [],
    refunded_minor: 0n,
    refund_pending_minor: 0n,
    disputed_minor: 0n,
    failure: null,
    ...freshSubmission(now),
    timeline: [timelineEntry(now, 'accepted', recurring === null ? 'api' : 'bursar', { detail })],
    created_at: now,
    updated_at: now,
    completed_at: null,
    ...given,
  };
}

/** The collection of charges. */
export const charges = collection<Charge>('charges', {
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'reference',
      'amount_minor',
      'attempt',
      'submissions',
    ],
    properties: {
      tenant_id: string,
      reference: string,
      status: statuses,
      capture_mode: { enum: ['customer_action_required', 'merchant_initiated'] },
      amount_minor: { ...long, minimum: 1 },
      refunded_minor: { ...long, minimum: 0 },
      refund_pending_minor: { ...long, minimum: 0 },
      disputed_minor: { ...long, minimum: 0 },
      provider_fee_minor: { bsonType: ['long', 'null'] },
      surcharge_minor: { bsonType: ['long', 'null'] },
      settled_amount_minor: { bsonType: ['long', 'null'] },
      suspended: { bsonType: 'array' },
      attempt: { bsonType: 'int', minimum: 1 },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    ...Object.values(CHARGE_INDEXES).map((key) => ({ key })),
    { key: MADE_BY_INDEX, partialFilterExpression: { made_by: { $type: 'string' } } },
    {
      key: { tenant_id: 1, 'recurring.id': 1, 'recurring.period': 1 },
      unique: true,
      partialFilterExpression: { 'recurring.id': { $type: 'string' } },
    },
    ...supervisionIndexes,
  ],
  sealed: [{ path: 'customer.email' }, { path: 'customer.name' }],
});
