import { z } from 'zod';
import type { ChargeState, Dispute, Refund, SavedMethod, SetupState } from '../payment-provider.js';
import { OWN_REFERENCES } from '../port.js';
import { unreadable, unrecognized } from './answers.js';
import { amount, code } from './wire.js';

/** The acquirer's wire format. Fields that money depends on are read strictly; unknown fields are allowed. */

/** An id starts with a letter, so no card number can pass as one. */
const id = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,199}$/);
const reference = z.string().min(1).max(200);
const currency = z.string().regex(/^[A-Z]{3}$/);

const authorization = z.object({
  authorization: id,
  type: z.enum(['card', 'bank_account']),
  brand: z
    .string()
    .regex(/^[a-z_]{1,30}$/)
    .nullable(),
  last4: z
    .string()
    .regex(/^[0-9]{4}$/)
    .nullable(),
  expiry_month: z.int().min(1).max(12).nullable(),
  expiry_year: z.int().min(2000).max(9999).nullable(),
  bank_code: z
    .string()
    .regex(/^[0-9]{3,6}$/)
    .nullable(),
  bank_name: z.string().min(1).max(200).nullable(),
  reusable: z.boolean(),
  email: z.email().max(254).nullish(),
});

const pageUrl = z.url({ protocol: /^https?$/ }).max(2_000);

/** The acquirer's answer about a charge. */
export const chargeAnswer = z.discriminatedUnion('status', [
  z.object({
    reference,
    status: z.literal('awaiting_customer'),
    code,
    redirect_url: pageUrl.nullish(),
  }),
  z.object({ reference, status: z.literal('pending') }),
  z.object({
    reference,
    status: z.literal('paid'),
    paid_minor: amount,
    surcharge_minor: amount.optional(),
    currency,
    fee_minor: amount.nullable(),
    authorization: authorization.nullable(),
  }),
  z.object({ reference, status: z.literal('declined'), code, decline: z.enum(['soft', 'hard']) }),
  z.object({ reference, status: z.enum(['abandoned', 'cancelled', 'reversed']) }),
]);

/** The acquirer's answer about a charge, parsed. */
export type ChargeAnswer = z.infer<typeof chargeAnswer>;

/** The acquirer's answer with the address of a page. */
export const pageAnswer = z.object({ redirect_url: pageUrl });

/** The acquirer's answer to the preparation of a charge. */
export const preparationAnswer = z.object({ preparation: id });

/** The status in an answer about a charge, also if it is a word that is not known here. */
export const statusAnswer = z.object({ reference, status: z.string() });

/** The acquirer's answer about a setup. */
export const setupAnswer = z.discriminatedUnion('status', [
  z.object({ reference, status: z.enum(['awaiting_customer', 'abandoned']) }),
  z.object({ reference, status: z.literal('saved'), authorization }),
  z.object({ reference, status: z.literal('declined'), code }),
  z.object({ reference, status: z.literal('cancelled') }),
]);

/** The acquirer's answer about a refund. */
export const refundAnswer = z.object({
  refund: id,
  charge: reference,
  merchant_note: z.string().max(1_000).nullable(),
  status: z.enum(['pending', 'refunded', 'refused', 'returned', 'needs_account']),
  amount_minor: amount,
  currency,
  code,
  dispute: id.nullish(),
});

/** A page of the acquirer's list of refunds. */
export const refundsAnswer = z.object({
  refunds: z.array(refundAnswer),
  next: z.string().max(200).nullable(),
});

/** The acquirer's answer about a dispute. */
export const disputeAnswer = z.object({
  dispute: id,
  charge: reference,
  status: z.enum(['opened', 'won', 'lost']),
  funds: z.enum(['held', 'taken']),
  amount_minor: amount,
  currency,
  reason: code,
  due_at: z.iso.datetime({ offset: true }).nullable(),
});

/** The acquirer's list of the disputes of a charge. */
export const disputesAnswer = z.object({ charge: reference, disputes: z.array(disputeAnswer) });

/** A page of the acquirer's list of all disputes. */
export const disputesPage = z.object({
  disputes: z.array(disputeAnswer),
  next: z.string().max(200).nullable(),
});

/** The acquirer's answer to a revocation. */
export const revokeAnswer = z.object({ authorization: id, revoked: z.literal(true) });

/** The acquirer's refusal codes that Bursar has too. Any other code becomes `provider_declined`. */
const REFUSALS = new Map([
  ...[
    'insufficient_funds',
    'card_declined',
    'expired_card',
    'stolen_card',
    'authorization_not_found',
    'authorization_revoked',
    'authorization_not_reusable',
    'refund_refused',
    'charge_not_paid',
    'exceeds_charge',
  ].map((ours) => [ours, ours] as const),
  ['no_such_account', 'invalid_account'],
]);

function refusalCode(theirs: string | null | undefined): string {
  return REFUSALS.get(theirs ?? '') ?? 'provider_declined';
}

/** Converts the acquirer's status of a charge. */
export function chargeState(charge: ChargeAnswer): ChargeState {
  switch (charge.status) {
    case 'awaiting_customer':
      return {
        kind: 'pending',
        awaits: 'customer',
        redirect: charge.redirect_url ?? null,
        // The acquirer names no kind while the page is open.
        lastDecline:
          charge.code == null ? null : { code: refusalCode(charge.code), decline: 'soft' },
      };
    case 'pending':
      return { kind: 'pending', awaits: 'provider', redirect: null, lastDecline: null };
    case 'declined':
      return { kind: 'declined', code: refusalCode(charge.code), decline: charge.decline };
    case 'abandoned':
    case 'cancelled':
    case 'reversed':
      return { kind: charge.status };
    case 'paid':
      return {
        kind: 'succeeded',
        amountMinor: charge.paid_minor,
        surchargeMinor: charge.surcharge_minor ?? 0n,
        currency: charge.currency,
        feeMinor: charge.fee_minor,
        method: charge.authorization && savedMethod(charge.authorization),
      };
  }
}

/** The state in an answer about a charge; unknown if it is about another one, or has a word that is not known here. */
export function readChargeState(body: unknown, theirs: string) {
  const status = statusAnswer.safeParse(body);
  if (!status.success || status.data.reference !== theirs) return unreadable();
  const parsed = chargeAnswer.safeParse(body);
  if (parsed.success) return chargeState(parsed.data);
  return KNOWN.has(status.data.status) ? unreadable() : unrecognized();
}

const KNOWN = new Set([
  'awaiting_customer',
  'pending',
  'paid',
  'declined',
  'abandoned',
  'cancelled',
  'reversed',
]);

function savedMethod(left: z.infer<typeof authorization>): SavedMethod {
  return {
    code: left.authorization,
    type: left.type,
    brand: left.brand,
    last4: left.last4,
    expiryMonth: left.expiry_month,
    expiryYear: left.expiry_year,
    bankCode: left.bank_code,
    bankName: left.bank_name,
    reusable: left.reusable,
    email: left.email ?? null,
  };
}

/** Converts the acquirer's status of a setup. */
export function setupState(setup: z.infer<typeof setupAnswer>): SetupState {
  if (setup.status === 'saved') return { kind: 'saved', method: savedMethod(setup.authorization) };
  if (setup.status === 'declined') return { kind: 'declined', code: refusalCode(setup.code) };
  return setup.status === 'cancelled'
    ? { kind: 'declined', code: 'cancelled' }
    : { kind: 'pending' };
}

const REFUND_STATES = {
  pending: 'pending',
  refunded: 'succeeded',
  refused: 'rejected',
  returned: 'returned',
  needs_account: 'needs_account',
} as const;

/** Converts the acquirer's refund. */
export function refundOf(refund: z.infer<typeof refundAnswer>): Refund {
  return {
    id: refund.refund,
    marker: refund.merchant_note,
    charge: { reference: oursOf(refund.charge), handle: null },
    dispute: refund.dispute ?? null,
    amountMinor: refund.amount_minor,
    currency: refund.currency,
    state: REFUND_STATES[refund.status],
    ...(refund.status === 'refused' && { code: refusalCode(refund.code) }),
  };
}

/** Converts the acquirer's dispute. */
export function disputeOf(dispute: z.infer<typeof disputeAnswer>): Dispute {
  return {
    id: dispute.dispute,
    charge: { reference: oursOf(dispute.charge), handle: null },
    amountMinor: dispute.amount_minor,
    currency: dispute.currency,
    state: dispute.status === 'opened' ? 'open' : dispute.status,
    funds: dispute.funds === 'held' ? 'with_us' : 'taken',
    reason: dispute.reason ?? null,
    dueAt: dispute.due_at === null ? null : new Date(dispute.due_at),
  };
}

/** Our reference. One that is not ours stays as it is: no record has it. */
export const oursOf = (theirs: string): string => OWN_REFERENCES.toOurs(theirs) ?? theirs;
