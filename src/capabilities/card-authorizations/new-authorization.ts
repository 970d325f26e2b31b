import { timelineEntry } from '../../core/instructions/timeline.js';
import type { Card } from '../cards/card.js';
import type { CardAuthorization } from './card-authorization.js';
import type {
  ApplyCardAuthorizationFact,
  AuthorizationKey,
  DecideCardAuthorization,
} from './mutations.js';
import type { AuthorizationVerdict } from './rules.js';

/** The dispatcher starts the workflow after this time if the decision's own start has failed. */
const START_WITHIN_MS = 2_000;

/** The record of a decided request, with its hold if it is approved. */
export function newAuthorization(
  input: DecideCardAuthorization,
  verdict: AuthorizationVerdict,
  now: Date,
): CardAuthorization {
  const { request, authorizationRequestId, holdMs } = input;
  const code = verdict.approved ? 'approved' : verdict.code;
  const detail = verdict.approved ? code : `declined: ${code}`;
  const declined = {
    ...emptyAuthorization(input, now),
    ...requestFields(request),
    authorization_request_ids: [authorizationRequestId],
    code,
  };
  const timeline = [timelineEntry(now, 'accepted', input.provider, { detail })];
  if (!verdict.approved) return { ...declined, timeline };
  return {
    ...declined,
    timeline,
    status: 'approved',
    approved: true,
    held_minor: request.amountMinor,
    funding_source: verdict.fundingSource,
    expires_at: new Date(now.getTime() + holdMs),
    next_check_at: new Date(now.getTime() + START_WITHIN_MS),
  };
}

/**
 * The record of an authorization that is known only from a fact: no request for it was ever decided here. It counts as
 * declined, so that its request is declined if it arrives later.
 */
export function unseenAuthorization(
  input: ApplyCardAuthorizationFact,
  { funding }: Pick<Card, 'funding'>,
  now: Date,
): CardAuthorization {
  const code = input.code ?? 'never_asked';
  const { by } = input;
  const timeline = [timelineEntry(now, 'accepted', 'bursar', { detail: `declined: ${code}` })];
  // Money that is taken in spite of the decline, and then returned, goes to the balance that pays for such a card.
  const declined = {
    ...emptyAuthorization(input, now),
    funding_source: funding === 'jit' ? ('wallet' as const) : ('card' as const),
    code,
    timeline,
  };
  return typeof by === 'string' ? declined : { ...declined, ...requestFields(by.request) };
}

const requestFields = ({
  amountMinor,
  currency,
  channel,
  merchant,
}: DecideCardAuthorization['request']) => ({
  amount_minor: amountMinor,
  currency,
  channel,
  merchant,
});

function emptyAuthorization({ tenantId, id, card, provider, token }: AuthorizationKey, now: Date) {
  return {
    _id: id,
    tenant_id: tenantId,
    version: 1,
    card_id: card,
    provider,
    token,
    status: 'declined',
    approved: false,
    authorization_request_ids: [],
    amount_minor: 0n,
    held_minor: 0n,
    funding_source: 'card',
    cleared_minor: 0n,
    currency: 'NGN',
    channel: null,
    merchant: null,
    facts: [],
    attention: null,
    expires_at: null,
    next_check_at: null,
    created_at: now,
    updated_at: now,
  } satisfies Omit<CardAuthorization, 'code' | 'timeline'>;
}
