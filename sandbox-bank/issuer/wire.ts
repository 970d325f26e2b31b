import { z } from 'zod';
import type { CardEventName } from '../shared/callback-record.js';
import type { Authorization, AuthorizationMessage } from './authorization-state.js';
import { shownChanger, shownState, type Card } from './card-state.js';
import { DISPUTE_EVENTS, type DisputeCase, type DisputeReport } from './dispute-state.js';
import { reportedMinor, type Funding } from './funding-state.js';
import { clientReference, errorAnswer, reference, requestedAt } from '../shared/wire.js';

const amountMinor = z.int().min(1);
const cardId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);

/** The body of a request for a card. */
export const cardBody = z.strictObject({
  reference,
  client_reference: clientReference,
  type: z.enum(['virtual', 'physical']),
  name: z.string().min(1).max(100).nullable(),
  requested_at: requestedAt,
});

/** The body of a request to fund a card. */
export const fundingBody = z.strictObject({
  reference,
  client_reference: clientReference,
  card: cardId,
  amount_minor: amountMinor,
  currency: z.literal('NGN'),
  requested_at: requestedAt,
});

/** The body of a request to set a card's state. */
export const stateBody = z.strictObject({
  state: z.enum(['open', 'locked', 'closed']),
  version: z.int().min(1),
  client_reference: clientReference,
  requested_at: requestedAt,
});

/** The body of the control by which the issuer changes a card. */
export const issuerChangeBody = z.strictObject({ status: z.enum(['locked', 'active', 'closed']) });

/** The body of the control that decides a funding. */
export const setFundingOutcomeBody = z
  .strictObject({
    outcome: z.enum(['funded', 'failed', 'reversed']),
    /** Of a reversal: the part that is taken back; the rest of what was moved if it is missing. */
    amount_minor: amountMinor.optional(),
  })
  .refine((body) => body.outcome === 'reversed' || body.amount_minor === undefined, {
    path: ['amount_minor'],
    message: 'only a reversal may be of a part',
  });

/** The body of the control that simulates a card payment. */
export const authorizationBody = z.strictObject({
  /** The client's reference of the card, or the issuer's id. */
  card: cardId,
  kind: z
    .enum([
      'authorization',
      'increment',
      'verification',
      'balance_inquiry',
      'financial',
      'credit',
      'advice',
    ])
    .default('authorization'),
  /** The amount to hold, if it is not the requested one. */
  hold_minor: z.int().min(0).nullable().default(null),
  partial_approval: z.boolean().default(false),
  /** The token of a payment that this request belongs to. */
  authorization: z.string().min(1).max(100).optional(),
  /** Zero verifies the account. */
  amount_minor: z.int().min(0).default(0),
  cash_minor: z.int().min(0).optional(),
  merchant_amount: z
    .strictObject({ amount_minor: z.int().min(0), currency: z.string().regex(/^[A-Z]{3}$/) })
    .optional(),
  initiator: z.enum(['cardholder', 'merchant']).optional(),
  hold_until: z.iso.datetime({ offset: true }).optional(),
  answer_within_ms: z.int().min(1).max(60_000).optional(),
  channel: z.enum(['online', 'pos', 'atm', 'contactless']).default('online'),
  merchant: z
    .strictObject({
      name: z.string().min(1).max(100).default('Sandbox Stores'),
      category: z
        .string()
        .regex(/^[0-9]{4}$/)
        .default('5411'),
      country: z
        .string()
        .regex(/^[A-Z]{2}$/)
        .default('NG'),
    })
    .prefault({}),
});

/** The body of the control that lets something become of a payment. */
export const endBody = z
  .strictObject({
    outcome: z.enum(['cleared', 'reversed', 'expired', 'refunded', 'refund_reversed', 'corrected']),
    amount_minor: z.int().optional(),
    final: z.boolean().default(true),
    /** Of a clearing that nobody was asked about. */
    forced: z.literal(true).optional(),
    /** False: no callback reports it, and only a look-up finds it. */
    report: z.boolean().default(true),
  })
  .refine((body) => body.outcome === 'cleared' || body.forced === undefined, {
    path: ['forced'],
    message: 'only a clearing may be forced',
  })
  .refine((body) => body.outcome !== 'expired' || body.amount_minor === undefined, {
    path: ['amount_minor'],
    message: 'an expiry has no amount',
  })
  .refine((body) => body.outcome === 'corrected' || (body.amount_minor ?? 1) >= 1, {
    path: ['amount_minor'],
    message: 'only a correction may be negative',
  });

/** The body of a request to dispute a payment. */
export const disputeBody = z.strictObject({
  reference,
  client_reference: clientReference,
  card: cardId,
  authorization: z.string().min(1).max(100),
  amount_minor: amountMinor,
  currency: z.literal('NGN'),
  reason: z.enum(['fraud', 'not_received', 'duplicate', 'not_as_described', 'cancelled', 'other']),
  explanation: z.string().min(1).max(4_000),
  requested_at: requestedAt,
});

/** The body of the control that decides a dispute, or moves its provisional credit. */
export const disputeOutcomeBody = z.strictObject({
  outcome: z.enum(['submitted', 'refused', 'credited', 'credit_reversed', 'won', 'lost']),
  /** The default is the disputed amount. */
  amount_minor: amountMinor.optional(),
  /** False: no callback reports it, and only a look-up finds it. */
  report: z.boolean().default(true),
  /** The number of deliveries of the callback. */
  times: z.int().min(1).max(10).default(1),
});

/** The client's answer to an authorization request. */
export const decisionAnswer = z.object({
  approved: z.boolean(),
  code: z.string().regex(/^[a-z0-9_]{1,100}$/),
  /** Less than the requested amount only if the request allows it. */
  approved_amount_minor: z.int().min(0).optional(),
  available_minor: z.int().min(0).nullish(),
});

/**
 * Presents a card; a withheld issuance is shown as `pending`. A client that knows the card's id knows that it is
 * issued.
 */
export function presentCard(card: Card, isWithheld = false) {
  const isOpen = card.status === 'pending' || isWithheld;
  const face = isOpen ? null : card.face;
  return {
    reference: card.order.reference,
    client_reference: card.order.client_reference,
    type: card.order.type,
    status: isOpen ? 'pending' : card.status,
    code: card.code,
    card: face?.id ?? null,
    brand: face?.brand ?? null,
    last4: face?.last4 ?? null,
    expiry_month: face?.expiry_month ?? null,
    expiry_year: face?.expiry_year ?? null,
    state: shownState(card),
    version: card.version,
    changed_by: shownChanger(card),
    ...times(card, isOpen),
  };
}

/** Presents a funding; a withheld outcome is shown as `pending`. */
export function presentFunding(funding: Funding, isWithheld = false) {
  const isOpen = funding.status === 'pending' || isWithheld;
  const { reference: ours, client_reference, card, amount_minor: asked, currency } = funding.order;
  return {
    reference: ours,
    client_reference,
    card,
    status: isOpen ? 'pending' : funding.status,
    amount_minor: isOpen ? asked : reportedMinor(funding),
    currency,
    code: isOpen ? null : funding.code,
    ...times(funding, isOpen),
  };
}

/** Presents an authorization, with all messages about it. `amount_minor` is that of the latest one. */
export function presentAuthorization(one: Authorization) {
  const last = one.messages.at(-1);
  return {
    token: one.token,
    card: one.card.face?.id ?? null,
    status: one.status,
    amount_minor: last?.amountMinor ?? 0,
    held_minor: one.heldMinor,
    currency: 'NGN',
    code: last?.code ?? null,
  };
}

/** The data of the event that reports a message about a card payment. */
export function reportData({ token, card }: Authorization, message: AuthorizationMessage) {
  const { id, status, isFinal, isForced, amountMinor: amount_minor, code } = message;
  return {
    reference: token,
    message_id: id,
    client_reference: card.order.reference,
    card: card.face?.id ?? null,
    amount_minor,
    currency: 'NGN',
    code,
    ...(status === 'cleared' && { final: isFinal, ...(isForced && { forced: true }) }),
    ...(status === 'authorization_reversed' && { whole: isFinal }),
  };
}

const isApprovedByClient = ({ status, order }: AuthorizationMessage) =>
  status === 'authorized' && order?.kind !== 'advice';

/** Presents a card payment with its reports, those of the events that were lost too. */
export const presentReports = (one: Authorization, from = 0) => ({
  token: one.token,
  over: one.heldMinor === 0,
  approved: one.messages.filter(isApprovedByClient).map(({ id }) => id),
  reports: one.messages.slice(from).flatMap((message) => {
    const event = eventOf(message);
    const occurred_at = new Date(message.at).toISOString();
    return event === null ? [] : [{ event, occurred_at, data: reportData(one, message) }];
  }),
});

/** The data of the event that reports a step of a dispute. */
export const disputeReportData = ({ order }: DisputeCase, report: DisputeReport) => ({
  reference: order.reference,
  client_reference: order.client_reference,
  card: order.card,
  authorization: order.authorization,
  message_id: report.id,
  amount_minor: report.amountMinor,
  currency: order.currency,
  code: report.code,
});

/** Presents a dispute with its reports; with a withheld outcome there is none yet. */
export const presentDispute = (dispute: DisputeCase, isWithheld = false) => ({
  reference: dispute.order.reference,
  client_reference: dispute.order.client_reference,
  card: dispute.order.card,
  authorization: dispute.order.authorization,
  amount_minor: dispute.order.amount_minor,
  currency: dispute.order.currency,
  reason: dispute.order.reason,
  status: isWithheld ? 'pending' : dispute.status,
  credited_minor: dispute.creditedMinor,
  reports: (isWithheld ? [] : dispute.reports).map((report) => ({
    event: DISPUTE_EVENTS[report.kind],
    occurred_at: new Date(report.at).toISOString(),
    data: disputeReportData(dispute, report),
  })),
});

/** The event that reports a message; null for an open request and for an approval of the client. */
export function eventOf({ status, order }: AuthorizationMessage): CardEventName | null {
  if (status === 'asked') return null;
  if (status === 'authorized') return order?.kind === 'advice' ? 'card.authorization_advice' : null;
  return EVENTS[status];
}

const EVENTS: Record<
  Exclude<AuthorizationMessage['status'], 'asked' | 'authorized'>,
  CardEventName
> = {
  declined: 'card.declined',
  cleared: 'card.cleared',
  authorization_reversed: 'card.authorization_reversed',
  authorization_expired: 'card.authorization_expired',
  refunded_to_card: 'card.refunded',
  card_refund_reversed: 'card.refund_reversed',
  clearing_corrected: 'card.corrected',
};

function times(thing: { createdAt: number; updatedAt: number }, isOpen: boolean) {
  return {
    created_at: new Date(thing.createdAt).toISOString(),
    updated_at: new Date(isOpen ? thing.createdAt : thing.updatedAt).toISOString(),
  };
}

/** The answer for an unknown card. */
export function noSuchCard() {
  return errorAnswer(404, 'card_not_found', 'there is no such card');
}
