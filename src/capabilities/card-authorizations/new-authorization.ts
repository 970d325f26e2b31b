import { timelineEntry } from '../../core/instructions/timeline.js';
import type { Card } from '../cards/card.js';
import type { CardAuthorization } from './card-authorization.js';
import type {
  ApplyCardAuthorizationFact,
  AuthorizationKey,
  DecideCardAuthorization,
} from './mutations.js';
import type { AuthorizationVerdict } from './rules.js';

/** After this the dispatcher starts a workflow that nobody has started. */
const START_WITHIN_MS = 2_000;

/** A request as it was decided. */
export function newAuthorization(
  item: DecideCardAuthorization,
  verdict: AuthorizationVerdict,
  now: Date,
): CardAuthorization {
  const { request, authorizationRequestId, holdMs } = item;
  const code = verdict.approved ? 'approved' : verdict.code;
  const detail = verdict.approved ? code : `declined: ${code}`;
  const declined = {
    ...emptyAuthorization(item, now),
    ...requestFields(request),
    asking: authorizationRequestId,
    authorization_request_ids: [authorizationRequestId],
    code,
  };
  const timeline = [timelineEntry(now, 'accepted', item.provider, { detail })];
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
 * One that was never decided, or not as far as we know: something became of it all the same. Should its request still
 * come, it is declined.
 */
export function unseenAuthorization(
  item: ApplyCardAuthorizationFact,
  { funding }: Pick<Card, 'funding'>,
  now: Date,
): CardAuthorization {
  const code = item.code ?? 'never_asked';
  const { by } = item;
  const timeline = [timelineEntry(now, 'accepted', 'bursar', { detail: `declined: ${code}` })];
  // What may be taken for it all the same comes back to where such a card's money is.
  const declined = {
    ...emptyAuthorization(item, now),
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
    asking: null,
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
