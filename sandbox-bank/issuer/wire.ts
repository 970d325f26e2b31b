import { z } from 'zod';
import type { Authorization } from './authorization-state.js';
import type { Card } from './card-state.js';
import type { Funding } from './funding-state.js';
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

/** The body of the control that decides a funding. */
export const setFundingOutcomeBody = z.strictObject({ outcome: z.enum(['funded', 'failed']) });

/** The body of the control that simulates a card payment. */
export const authorizationBody = z.strictObject({
  /** The client's reference of the card, or the issuer's id. */
  card: cardId,
  amount_minor: amountMinor,
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

/** The body of the control that ends an authorization. */
export const endBody = z
  .strictObject({
    outcome: z.enum(['cleared', 'reversed', 'expired']),
    amount_minor: amountMinor.optional(),
  })
  .refine((body) => body.outcome === 'cleared' || body.amount_minor === undefined, {
    path: ['amount_minor'],
    message: 'only what is cleared has an amount of its own',
  });

/** The client's answer to an authorization request. */
export const decisionAnswer = z.object({
  approved: z.boolean(),
  code: z.string().regex(/^[a-z0-9_]{1,100}$/),
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
    state: card.state,
    version: card.version,
    ...times(card, isOpen),
  };
}

/** Presents a funding; a withheld outcome is shown as `pending`. */
export function presentFunding(funding: Funding, isWithheld = false) {
  const isOpen = funding.status === 'pending' || isWithheld;
  const { reference: ours, client_reference, card, amount_minor, currency } = funding.order;
  return {
    reference: ours,
    client_reference,
    card,
    status: isOpen ? 'pending' : funding.status,
    amount_minor,
    currency,
    code: isOpen ? null : funding.code,
    ...times(funding, isOpen),
  };
}

/** Presents an authorization. */
export function presentAuthorization({ token, status, amountMinor: amount, code }: Authorization) {
  return { token, status, amount_minor: amount, currency: 'NGN', code };
}

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
