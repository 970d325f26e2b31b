import { z } from 'zod';
import type { FundingState, IssueState } from '../card-issuer.js';
import { amount, code } from './wire.js';

/** The issuer's words, read strictly where money depends on them; further fields are let through. */

/** Goes to timelines and workflow histories: it starts with a letter, so that no card number can pass for one. */
const id = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/);
const reference = z.string().min(1).max(200);

const face = {
  card: id,
  brand: z.string().regex(/^[a-z_]{1,30}$/),
  last4: z.string().regex(/^[0-9]{4}$/),
  expiry_month: z.int().min(1).max(12),
  expiry_year: z.int().min(2000).max(9999),
};

const cardStanding = {
  reference: z.string(),
  state: z.enum(['open', 'locked', 'closed']),
  version: z.int().min(0),
};

export const cardAnswer = z.discriminatedUnion('status', [
  z.object({ ...cardStanding, ...face, status: z.literal('issued') }),
  z.object({ ...cardStanding, status: z.literal('pending') }),
  z.object({ ...cardStanding, status: z.literal('refused'), code }),
]);

export const fundingAnswer = z.object({
  reference: z.string(),
  status: z.enum(['pending', 'funded', 'refused', 'reversed']),
  amount_minor: amount,
  currency: z.literal('NGN'),
  code,
});

export const issuedData = z.object({ reference, ...face });

export const moneyData = z.object({
  reference,
  card: id,
  amount_minor: amount,
  currency: z.literal('NGN'),
  code,
});

export const requestData = z.object({
  reference: id,
  card: id,
  amount_minor: amount,
  currency: z.string().regex(/^[A-Z]{3}$/),
  channel: z.enum(['online', 'pos', 'atm', 'contactless']),
  merchant: z.object({
    name: z.string().min(1).max(100),
    category: z.string().regex(/^[0-9]{4}$/),
    country: z.string().regex(/^[A-Z]{2}$/),
  }),
  requested_at: z.iso.datetime({ offset: true }),
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
]);

export function isRefusal(theirs: string): boolean {
  return REFUSALS.has(theirs);
}

function refusalCode(theirs: string | null | undefined): string {
  if (theirs === 'no_such_card') return 'card_not_found';
  return REFUSALS.has(theirs ?? '') ? String(theirs) : 'provider_declined';
}

export function issuedState(card: z.infer<typeof issuedData>): IssueState {
  return {
    kind: 'issued',
    card: card.card,
    brand: card.brand,
    last4: card.last4,
    expiryMonth: card.expiry_month,
    expiryYear: card.expiry_year,
  };
}

export function issueState(card: z.infer<typeof cardAnswer>): IssueState {
  if (card.status === 'issued') return issuedState(card);
  if (card.status === 'pending') return { kind: 'pending' };
  return { kind: 'rejected', code: refusalCode(card.code) };
}

export function fundingState(
  status: 'pending' | 'funded' | 'refused' | 'reversed',
  funding: { amount_minor: bigint; code?: string | null | undefined },
): FundingState {
  if (status === 'pending') return { kind: 'pending' };
  if (status === 'refused') return { kind: 'rejected', code: refusalCode(funding.code) };
  return { kind: status, amountMinor: funding.amount_minor };
}
