import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import type { CardSecurity } from '../cards/card.js';
import type { cardAuthorizationResource, cardSecurityResource } from './schema.js';
import type { CardAuthorization } from './card-authorization.js';

type CardSecurityView = z.infer<typeof cardSecurityResource>;

const limitOf = (minor: bigint | null) => (minor === null ? null : toWireAmount(minor));
const minorOf = (limit: number | null) => (limit === null ? null : BigInt(limit));

/** The security settings of a card for tenants. */
export function presentSecurity(security: CardSecurity): CardSecurityView {
  const { online, pos, atm, contactless } = security.channels;
  return {
    channels: { online, pos, atm, contactless },
    per_transaction_limit_minor: limitOf(security.per_transaction_limit_minor),
    daily_limit_minor: limitOf(security.daily_limit_minor),
    allowed_countries: security.allowed_countries,
    blocked_merchant_categories: security.blocked_merchant_categories,
  };
}

/** The stored form of security settings in a request. */
export const securityOf = (body: CardSecurityView): CardSecurity => ({
  ...body,
  per_transaction_limit_minor: minorOf(body.per_transaction_limit_minor),
  daily_limit_minor: minorOf(body.daily_limit_minor),
});

/** An authorization for tenants. It does not contain the issuer's token. */
export function presentAuthorization(
  authorization: Omit<CardAuthorization, 'timeline'>,
): z.infer<typeof cardAuthorizationResource> {
  const { attention, merchant } = authorization;
  return {
    id: authorization._id,
    card_id: authorization.card_id,
    status: authorization.status,
    approved: authorization.approved,
    code: authorization.code,
    amount_minor: toWireAmount(authorization.amount_minor),
    held_minor: toWireAmount(authorization.held_minor),
    cleared_minor: toWireAmount(authorization.cleared_minor),
    currency: authorization.currency,
    channel: authorization.channel,
    merchant: merchant && {
      name: merchant.name,
      category: merchant.category,
      country: merchant.country,
    },
    attention: attention && { since: attention.since.toISOString(), reason: attention.reason },
    expires_at: authorization.expires_at?.toISOString() ?? null,
    created_at: authorization.created_at.toISOString(),
    updated_at: authorization.updated_at.toISOString(),
  };
}
