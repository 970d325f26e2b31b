import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import type { cardAuthorizationResource } from './schema.js';
import type { CardAuthorization } from './record.js';

/** An authorization for tenants. It does not contain the issuer's token. */
export function presentAuthorization(
  authorization: Omit<CardAuthorization, 'timeline'>,
): z.infer<typeof cardAuthorizationResource> {
  const { attention, merchant, messages, facts } = authorization;
  const there = messages.find(({ merchant_amount: said }) => said)?.merchant_amount;
  const cash = messages.find(({ cash_minor: said }) => said !== undefined)?.cash_minor;
  return {
    id: authorization._id,
    card_id: authorization.card_id,
    status: authorization.status,
    approved: authorization.approved,
    code: authorization.code,
    decline_code: authorization.approved ? null : authorization.code,
    amount_minor: toWireAmount(authorization.amount_minor),
    held_minor: toWireAmount(authorization.held_minor),
    cleared_minor: toWireAmount(authorization.cleared_minor),
    refunded_minor: toWireAmount(authorization.refunded_minor),
    disputed_minor: toWireAmount(authorization.disputed_minor ?? 0n),
    credited_minor: toWireAmount(authorization.credited_minor ?? 0n),
    currency: authorization.currency,
    channel: authorization.channel,
    merchant: merchant && {
      name: merchant.name,
      category: merchant.category,
      country: merchant.country,
    },
    cash_minor: cash === undefined ? null : toWireAmount(cash),
    merchant_amount: there
      ? { amount_minor: toWireAmount(there.amount_minor), currency: there.currency }
      : null,
    initiator: messages.find(({ initiator }) => initiator)?.initiator ?? null,
    stand_in: authorization.stand_in,
    forced: facts.some((fact) => fact.kind === 'cleared' && fact.forced === true),
    attention: attention && { since: attention.since.toISOString(), reason: attention.reason },
    expires_at: authorization.expires_at?.toISOString() ?? null,
    created_at: authorization.created_at.toISOString(),
    updated_at: authorization.updated_at.toISOString(),
  };
}
