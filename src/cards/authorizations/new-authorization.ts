import { timelineEntry } from '../../pursuits/timeline.js';
import type { Card } from '../card.js';
import type { CardAuthorization } from './authorization.js';
import type { AuthorizationFactItem, AuthorizationKey, DecideItem } from './item.js';
import type { AuthorizationVerdict } from './rules.js';

/** After this the dispatcher starts a workflow that nobody has started. */
const START_WITHIN_MS = 2_000;

/** A request as it was decided. */
export function decided(
  item: DecideItem,
  verdict: AuthorizationVerdict,
  now: Date,
): CardAuthorization {
  const { request, asking, holdMs } = item;
  const code = verdict.approved ? 'approved' : verdict.code;
  const detail = verdict.approved ? code : `declined: ${code}`;
  const declined = { ...blank(item, now), ...askedFor(request), asking, askings: [asking], code };
  const timeline = [timelineEntry(now, 'accepted', item.provider, { detail })];
  if (!verdict.approved) return { ...declined, timeline };
  return {
    ...declined,
    timeline,
    status: 'approved',
    approved: true,
    held_minor: request.amountMinor,
    held_of: verdict.heldOf,
    expires_at: new Date(now.getTime() + holdMs),
    due_at: new Date(now.getTime() + START_WITHIN_MS),
  };
}

/**
 * One that was never decided, or not as far as we know: something became of it all the same. Should its request still
 * come, it is declined.
 */
export function neverDecided(
  item: AuthorizationFactItem,
  { funding }: Pick<Card, 'funding'>,
  now: Date,
): CardAuthorization {
  const code = item.code ?? 'never_asked';
  const { by } = item;
  const timeline = [timelineEntry(now, 'accepted', 'bursar', { detail: `declined: ${code}` })];
  // What may be taken for it all the same comes back to where such a card's money is.
  const declined = { ...blank(item, now), held_of: funding, code, timeline };
  return typeof by === 'string' ? declined : { ...declined, ...askedFor(by.request) };
}

const askedFor = ({ amountMinor, currency, channel, merchant }: DecideItem['request']) => ({
  amount_minor: amountMinor,
  currency,
  channel,
  merchant,
});

function blank({ tenant, id, card, provider, token }: AuthorizationKey, now: Date) {
  return {
    _id: id,
    tenant,
    version: 1,
    card,
    provider,
    token,
    status: 'declined',
    approved: false,
    asking: null,
    amount_minor: 0n,
    held_minor: 0n,
    held_of: 'prepaid',
    cleared_minor: 0n,
    currency: 'NGN',
    channel: null,
    merchant: null,
    facts: [],
    attention: null,
    expires_at: null,
    due_at: null,
    created_at: now,
    updated_at: now,
  } satisfies Omit<CardAuthorization, 'code' | 'timeline'>;
}
