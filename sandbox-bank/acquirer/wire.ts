import { z } from 'zod';
import { clientReference, errorAnswer, reference, requestedAt } from '../shared/wire.js';
import { findBank } from '../shared/directory.js';
import { surchargeMinor } from './behaviours.js';
import type { Authorization, Charge } from './charge-state.js';
import type { Dispute } from './dispute-state.js';
import type { Refund } from './refund-state.js';

const VALID_YEARS = 3;
const ANSWER_WITHIN_MS = 14 * 24 * 60 * 60 * 1000;

const common = {
  reference,
  client_reference: clientReference,
  amount_minor: z.int().min(1),
  currency: z.literal('NGN'),
  customer: z.strictObject({
    id: z.string().min(1).max(255),
    email: z.email().max(254),
    name: z.string().min(1).max(200).nullable(),
  }),
  requested_at: requestedAt,
};

const authorization = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);

const { amount_minor: _amount, currency: _currency, ...unpaid } = common;

const page = {
  channel: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('card') }),
    z.strictObject({
      type: z.literal('bank_account'),
      account: z.string().regex(/^[0-9]{10}$/),
      bank_code: z.string().regex(/^[0-9]{3,6}$/),
    }),
  ]),
  return_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable(),
};

/** The body of a request for a charge with a page. */
export const pageBody = z.strictObject({ ...common, ...page });

/** The body of a request for a page that saves a payment method. */
export const setupBody = z.strictObject({ ...unpaid, ...page }).transform((body) => ({
  ...body,
  amount_minor: 0,
  currency: 'NGN' as const,
  setup: true as const,
}));

/** The body of a request for a charge without the customer. */
export const authorizedBody = z.strictObject({
  ...common,
  authorization,
  return_url: page.return_url.optional(),
  preparation: z.string().max(50).optional(),
});

/** The body of a request to prepare charges of an authorization. */
export const prepareBody = z.strictObject({ authorization });

/** The query of the list of refunds: those since a time, after the one that the last page ended with. */
export const refundsQuery = z.strictObject({
  charge: reference,
  since: z.iso.datetime({ offset: true }),
  after: z.coerce.number().int().min(0).default(0),
});

/** The query of the list of all disputes: those that were opened in a window, after the one that the last page ended with. */
export const disputesQuery = z.strictObject({
  from: z.iso.datetime({ offset: true }),
  to: z.iso.datetime({ offset: true }),
  after: z.coerce.number().int().min(0).default(0),
});

/** The body with the account of a customer for a refund that waits for it. */
export const refundAccountBody = z.strictObject({
  account: z.string().regex(/^[0-9]{10}$/),
  bank_code: z.string().regex(/^[0-9]{3,6}$/),
});

/** A body without fields. */
export const emptyBody = z.strictObject({});

/** The body of the control that opens or decides a dispute. */
export const setDisputeBody = z.strictObject({
  outcome: z.enum(['opened', 'won', 'lost']),
  amount_minor: z.int().min(1).optional(),
  /** The acquirer takes the amount at once, or when the dispute is lost. */
  funds: z.enum(['held', 'taken']).optional(),
});

/** The body of a request for a refund. */
export const refundBody = z.strictObject({
  charge: reference,
  amount_minor: z.int().min(1),
  currency: z.literal('NGN'),
  merchant_note: z.string().min(1).max(255),
  client_reference: clientReference,
  requested_at: requestedAt,
});

/** The body of a request to revoke an authorization. */
export const revokeBody = z.strictObject({ authorization });

/** The body of the control that decides a charge. */
export const setChargeOutcomeBody = z
  .strictObject({
    outcome: z.enum(['paid', 'declined', 'abandoned']),
    /** The payment method for an open page; its first one by default. */
    choice: z.string().max(50).optional(),
  })
  .refine((body) => body.outcome === 'paid' || body.choice === undefined, {
    path: ['choice'],
    message: 'only what is paid has a choice',
  });

/** The body of the control that tells the fee of a payment. */
export const feeBody = z.strictObject({ fee_minor: z.int().min(0) });

/** The body of the control that refunds at the acquirer's desk; by default everything. */
export const deskRefundBody = z.strictObject({ amount_minor: z.int().min(1).optional() });

/** The body of the control that decides a refund. */
export const setRefundOutcomeBody = z.strictObject({ outcome: z.enum(['refunded', 'failed']) });

/** Presents a charge; never with an account number. */
export function presentCharge(
  charge: Charge,
  { isWithheld = false, isReversed = false }: { isWithheld?: boolean; isReversed?: boolean } = {},
) {
  const { order, status, paidMinor, decline, behaviour } = charge;
  const isPaid = status === 'paid' && !isWithheld;
  const isOpen = status === 'open' || status === 'pending' || isWithheld;
  const isUnclear = isPaid && behaviour === 'unknown_word' && !charge.isClarified;
  const paid = isPaid ? paidMinor : null;
  return {
    reference: order.reference,
    client_reference: order.client_reference,
    status: isUnclear ? 'held' : shownStatus(status, { isWithheld, isReversed }),
    amount_minor: order.amount_minor,
    currency: order.currency,
    paid_minor: paid,
    surcharge_minor: paid === null ? null : surchargeMinor(behaviour, paid),
    fee_minor: paid === null ? null : charge.feeMinor,
    code: isWithheld ? null : (decline?.code ?? null),
    decline: isWithheld ? null : (decline?.decline ?? null),
    authorization:
      isPaid && charge.authorization
        ? presentAuthorization(charge.authorization, order.customer.email)
        : null,
    ...times(charge, isOpen),
  };
}

function shownStatus(
  status: Charge['status'],
  { isWithheld, isReversed }: { isWithheld: boolean; isReversed: boolean },
) {
  if (isWithheld) return 'pending';
  if (status === 'paid' && isReversed) return 'reversed';
  return status === 'open' ? 'awaiting_customer' : status;
}

/** Presents the page that saves a payment method. */
export function presentSetup(charge: Charge) {
  const { order, status, decline, authorization: saved } = charge;
  return {
    reference: order.reference,
    client_reference: order.client_reference,
    status: status === 'open' ? 'awaiting_customer' : status,
    code: decline?.code ?? null,
    authorization:
      status === 'saved' && saved ? presentAuthorization(saved, order.customer.email) : null,
    ...times(charge, status === 'open'),
  };
}

/** Presents a dispute. It is lost if nobody answers it within two weeks. */
export function presentDispute(dispute: Dispute) {
  return {
    dispute: dispute.id,
    charge: dispute.charge,
    client_reference: dispute.clientReference,
    status: dispute.status,
    funds: dispute.funds,
    amount_minor: dispute.amountMinor,
    currency: 'NGN',
    reason: 'not_recognized',
    due_at: new Date(dispute.createdAt + ANSWER_WITHIN_MS).toISOString(),
    ...times(dispute, dispute.status === 'opened'),
  };
}

function presentAuthorization({ code, channel, choice, grantedAt }: Authorization, email: string) {
  const granted = new Date(grantedAt);
  const isCard = channel.type === 'card';
  return {
    authorization: code,
    type: channel.type,
    brand: choice.brand,
    last4: isCard ? choice.last4 : channel.account.slice(-4),
    expiry_month: isCard ? granted.getUTCMonth() + 1 : null,
    expiry_year: isCard ? granted.getUTCFullYear() + VALID_YEARS : null,
    bank_code: isCard ? null : channel.bank_code,
    bank_name: isCard ? null : (findBank(channel.bank_code)?.name ?? null),
    reusable: choice.reusable,
    email,
  };
}

/** Presents a refund; a withheld outcome is shown as `pending`. */
export function presentRefund(refund: Refund, isWithheld = false) {
  const { id, order, status, code } = refund;
  const isOpen = status === 'pending' || status === 'needs_account' || isWithheld;
  return {
    refund: id,
    charge: order.charge,
    client_reference: order.client_reference,
    merchant_note: order.merchant_note,
    status: isWithheld ? 'pending' : status,
    amount_minor: order.amount_minor,
    currency: order.currency,
    code: isOpen ? null : code,
    ...times(refund, isOpen),
  };
}

function times(thing: { createdAt: number; updatedAt: number }, isOpen: boolean) {
  return {
    created_at: new Date(thing.createdAt).toISOString(),
    updated_at: new Date(isOpen ? thing.createdAt : thing.updatedAt).toISOString(),
  };
}

/** The answer for an unknown charge. */
export function noSuchCharge() {
  return errorAnswer(404, 'charge_not_found', 'there is no charge with this reference');
}

/** The answer for an unknown setup. */
export function noSuchSetup() {
  return errorAnswer(404, 'setup_not_found', 'there is no setup with this reference');
}
