import { z } from 'zod';
import type { ChargeAuthorization, ChargeState, Refund, RefundState } from '../payment-provider.js';
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
});

/** The acquirer's answer about a charge. */
export const chargeAnswer = z.discriminatedUnion('status', [
  z.object({ reference, status: z.literal('awaiting_customer'), code }),
  z.object({ reference, status: z.literal('pending') }),
  z.object({
    reference,
    status: z.literal('paid'),
    paid_minor: amount,
    currency,
    fee_minor: amount.nullable(),
    authorization: authorization.nullable(),
  }),
  z.object({ reference, status: z.literal('declined'), code, decline: z.enum(['soft', 'hard']) }),
  z.object({ reference, status: z.literal('abandoned') }),
]);

/** The acquirer's answer about a charge, parsed. */
export type ChargeAnswer = z.infer<typeof chargeAnswer>;

/** The acquirer's answer with the address of a page. */
export const pageAnswer = z.object({
  redirect_url: z.url({ protocol: /^https?$/ }).max(2_000),
});

/** The acquirer's answer about a refund. */
export const refundAnswer = z.object({
  refund: id,
  charge: reference,
  merchant_note: z.string().max(1_000).nullable(),
  status: z.enum(['pending', 'refunded', 'refused', 'returned']),
  amount_minor: amount,
  currency,
  code,
});

/** The acquirer's list of the refunds of a charge. */
export const refundsAnswer = z.object({ charge: reference, refunds: z.array(refundAnswer) });

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
        ...(charge.code != null && { lastDecline: refusalCode(charge.code) }),
      };
    case 'pending':
      return { kind: 'pending', awaits: 'provider' };
    case 'declined':
      return { kind: 'rejected', code: refusalCode(charge.code), decline: charge.decline };
    case 'abandoned':
      return { kind: 'abandoned' };
    case 'paid':
      return {
        kind: 'succeeded',
        amountMinor: charge.paid_minor,
        currency: charge.currency,
        feeMinor: charge.fee_minor,
        authorization: charge.authorization && chargeAuthorization(charge.authorization),
      };
  }
}

function chargeAuthorization(left: z.infer<typeof authorization>): ChargeAuthorization {
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
  };
}

/** Converts the acquirer's refund. */
export function refundOf(refund: z.infer<typeof refundAnswer>): Refund {
  const state: RefundState =
    refund.status === 'refused'
      ? { kind: 'rejected', code: refusalCode(refund.code) }
      : { kind: refund.status };
  const { refund: theirs, merchant_note: marker, amount_minor: amountMinor } = refund;
  return { id: theirs, marker, amountMinor, currency: refund.currency, state };
}
