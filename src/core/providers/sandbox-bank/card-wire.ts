import { z } from 'zod';
import type { FundingState, IssueState, UnloadState } from '../card-issuer.js';
import { opaqueId } from '../../../shared/card-data.js';
import { amount, code, signedAmount } from './wire.js';

/** The issuer's wire format. Fields that money depends on are read strictly; unknown fields are allowed. */

/** An id is opaque. Timelines and workflow histories get it, so it must not be a card number. */
const id = z.string().refine((text) => opaqueId(text) !== null);
const reference = z.string().min(1).max(200);

const face = {
  card: id,
  brand: z.string().regex(/^[a-z_]{1,30}$/),
  last4: z.string().regex(/^[0-9]{4}$/),
  expiry_month: z.int().min(1).max(12),
  expiry_year: z.int().min(2000).max(9999),
};

const changer = z.enum(['client', 'issuer']).nullish();
const state = z.enum(['inactive', 'open', 'locked', 'closed']);

/** The issuer's own id of a request, in an answer about it. */
export const ownId = z.object({ id });

const cardFields = {
  reference: z.string(),
  state,
  changed_by: changer,
  version: z.int().min(0),
  /** Of an issued card: the time of its latest change. */
  updated_at: z.iso.datetime({ offset: true }),
};

/** The issuer's answer about a card. */
export const cardAnswer = z.discriminatedUnion('status', [
  z.object({ ...cardFields, ...face, status: z.literal('issued') }),
  z.object({ ...cardFields, status: z.literal('pending') }),
  z.object({ ...cardFields, status: z.literal('refused'), code }),
]);

/** The issuer's answer about a funding. */
export const fundingAnswer = z.object({
  reference: z.string(),
  status: z.enum(['pending', 'funded', 'refused', 'reversed']),
  amount_minor: amount,
  currency: z.literal('NGN'),
  code,
});

/** The data of a message about an issued card. */
export const issuedData = z.object({ reference, ...face, state: state.default('open') });

/** The data of a message about a changed state. */
export const stateData = z.object({ reference, card: id, state, changed_by: changer });

/** The party that made a change. */
export const changerOf = (theirs: z.infer<typeof changer>): 'us' | 'issuer' | null =>
  theirs === 'client' ? 'us' : (theirs ?? null);

/** The data of a message that names an amount on a card. */
export const moneyData = z.object({
  reference,
  card: id,
  amount_minor: amount,
  currency: z.literal('NGN'),
  code,
});

/** The data of a message about a dispute. */
export const disputeData = z.object({
  reference,
  message_id: id,
  card: id,
  amount_minor: amount,
  currency: z.literal('NGN'),
  code,
});

/** The issuer's answer about a dispute. Reports have the data and the names of their events. */
export const disputeAnswer = z.object({
  reference: z.string(),
  reports: z
    .array(
      z.object({
        event: z.string(),
        occurred_at: z.iso.datetime({ offset: true }),
        data: disputeData,
      }),
    )
    .max(100),
});

/** The data of a message about an authorization. */
export const authorizationData = z.object({
  reference,
  message_id: id,
  card: id,
  amount_minor: signedAmount,
  currency: z.literal('NGN'),
  /** Of a clearing: whether it is the last one, and whether nobody was asked about it. */
  final: z.boolean().default(true),
  forced: z.boolean().default(false),
  /** Of a reversal: whether it returns all. */
  whole: z.boolean().default(true),
  code,
});

const report = z.object({
  event: z.string(),
  occurred_at: z.iso.datetime({ offset: true }),
  data: authorizationData,
});

/** The data of a message with several reports about one authorization. */
export const reportsData = z.object({
  reference,
  card: id,
  reports: z.array(report).min(1).max(100),
});

/** The issuer's answer about an authorization. Reports have the data and the names of their events. */
export const authorizationAnswer = z.object({
  token: z.string(),
  over: z.boolean(),
  /** The message ids of the requests that the client has approved. */
  approved: z.array(id),
  reports: z.array(report),
});

/** A report as the issuer lists it. */
export type Report = z.infer<typeof report>;

const time = z.iso.datetime({ offset: true });
const currency = z.string().regex(/^[A-Z]{3}$/);

/** The data of an authorization request. */
export const requestData = z.object({
  reference: id,
  message_id: id.optional(),
  card: id,
  kind: z
    .enum(['authorization', 'increment', 'verification', 'balance_inquiry', 'financial', 'credit'])
    .default('authorization'),
  hold_minor: amount.nullish(),
  partial_approval: z.boolean().default(false),
  amount_minor: amount,
  currency,
  // These decide nothing about the payment, so one that cannot be read declines nothing.
  cash_minor: amount.nullish().catch(null),
  merchant_amount: z.object({ amount_minor: amount, currency }).nullish().catch(null),
  initiator: z.enum(['cardholder', 'merchant']).nullish().catch(null),
  hold_until: time.nullish().catch(null),
  answer_by: time.nullish(),
  channel: z.enum(['online', 'pos', 'atm', 'contactless']),
  merchant: z.object({
    name: z.string().min(1).max(100),
    category: z.string().regex(/^[0-9]{4}$/),
    country: z.string().regex(/^[A-Z]{2}$/),
  }),
  requested_at: time,
});

/** The issuer's refusal codes that are ours too. A refusal for any other reason is still a refusal. */
const REFUSALS = new Set([
  'not_eligible',
  'funding_refused',
  'card_closed',
  'cancelled',
  'not_reversible',
  'superseded',
  'version_conflict',
  'card_not_found',
  'not_now',
  'locked_by_issuer',
  'dispute_refused',
  'dispute_not_found',
  'not_withdrawable',
  'already_decided',
  'no_answer',
  'withdrawn',
]);

/** True if this is a refusal code of the issuer that Bursar knows. */
export function isRefusal(theirs: string): boolean {
  return REFUSALS.has(theirs);
}

/** Our code of a refusal, also of a payment that the issuer reports as declined. */
export function refusalCode(theirs: string | null | undefined): string {
  if (theirs === 'no_such_card') return 'card_not_found';
  return REFUSALS.has(theirs ?? '') ? String(theirs) : 'provider_declined';
}

/** Converts the data of an issued card. */
export function issuedState(card: z.infer<typeof issuedData>): IssueState {
  return {
    kind: 'issued',
    card: card.card,
    brand: card.brand,
    last4: card.last4,
    expiryMonth: card.expiry_month,
    expiryYear: card.expiry_year,
    needsActivation: card.state === 'inactive',
  };
}

/** Converts the issuer's status of an issuance. */
export function issueState(card: z.infer<typeof cardAnswer>): IssueState {
  if (card.status === 'issued') return issuedState(card);
  if (card.status === 'pending') return { kind: 'pending' };
  return { kind: 'rejected', code: refusalCode(card.code) };
}

/** Converts the issuer's status of a funding. */
export function fundingState(
  status: 'pending' | 'funded' | 'refused' | 'reversed',
  funding: { amount_minor: bigint; code?: string | null | undefined },
): FundingState {
  if (status === 'pending') return { kind: 'pending' };
  if (status === 'refused') return { kind: 'rejected', code: refusalCode(funding.code) };
  return { kind: status, amountMinor: funding.amount_minor };
}

/** The state of an unloading, which the issuer reports as it does a funding. */
export const unloadState = (state: FundingState): UnloadState =>
  state.kind === 'funded' ? { ...state, kind: 'unloaded' } : state;
