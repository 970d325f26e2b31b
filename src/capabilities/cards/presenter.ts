import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import type {
  balanceResource,
  cardOperationResource,
  cardResource,
  cardSecurityBody,
  cardSecurityResource,
} from './schema.js';
import { lockHolders, type Card, type CardSecurity } from './record.js';
import type { CardOperation } from './card-operation.js';

/** A card for tenants. Lists every field, so that a new stored field is not exposed by accident. */
export function presentCard(card: Card): z.infer<typeof cardResource> {
  return {
    id: card._id,
    card_id: card._id,
    customer_id: card.customer_id,
    type: card.type,
    funding: card.funding,
    name: card.name,
    brand: card.issued?.brand ?? null,
    last4: card.issued?.last4 ?? null,
    expiry_month: card.issued?.expiry_month ?? null,
    expiry_year: card.issued?.expiry_year ?? null,
    currency: card.currency,
    status: card.status,
    locked_by: lockHolders(card),
    provider: card.provider,
    failure: presentFailure(card.failure),
    metadata: card.metadata ?? {},
    created_at: card.created_at.toISOString(),
  };
}

/** The balance of a card for tenants. */
export function presentBalance(card: Card, now: Date): z.infer<typeof balanceResource> {
  return {
    card_id: card._id,
    available_minor: toWireAmount(card.available_minor),
    currency: card.currency,
    as_of: now.toISOString(),
  };
}

/** An operation for tenants and operators. Callers must not present operations to tenants unless `isShown` is true. */
export function presentOperation(
  operation: Omit<CardOperation, 'timeline'>,
): z.infer<typeof cardOperationResource> {
  return {
    id: operation._id,
    card_id: operation.card_id,
    type: operation.type as z.infer<typeof cardOperationResource>['type'],
    status: operation.status,
    amount_minor: wireOrNull(operation.amount_minor),
    settled_amount_minor: wireOrNull(operation.settled_amount_minor),
    currency: operation.currency,
    transaction_reference: operation.transaction_reference,
    reason: operation.reason,
    request_id: operation.request_id,
    metadata: operation.metadata ?? {},
    failure: presentFailure(operation.failure),
    attention: presentAttention(operation.attention),
    created_at: operation.created_at.toISOString(),
    completed_at: operation.completed_at?.toISOString() ?? null,
  };
}

/** The line of an operation in the list for operators. */
export const presentOperationRow = (operation: Omit<CardOperation, 'timeline'>) => ({
  id: operation._id,
  card: operation.card_id,
  tenant: operation.tenant_id,
  type: operation.type,
  status: operation.status,
  amount_minor: operation.amount_minor === null ? null : toWireAmount(operation.amount_minor),
  attention: operation.attention?.reason ?? null,
  created_at: operation.created_at.toISOString(),
});

/** An operation for operators, with fields that tenants do not get. */
export const presentOperationDetails = (operation: CardOperation) => ({
  ...presentOperation(operation),
  tenant: operation.tenant_id,
  submissions: operation.submissions,
  reverses_operation_id: operation.reverses_operation_id,
  dispute_id: operation.dispute_id ?? null,
  taken_back_minor: wireOrNull(operation.taken_back_minor),
});

type CardSecurityView = z.infer<typeof cardSecurityResource>;

const wireOrNull = (minor: bigint | null | undefined) =>
  minor === null || minor === undefined ? null : toWireAmount(minor);

const limitOf = (minor: bigint | null) => (minor === null ? null : toWireAmount(minor));
const minorOf = (limit: number | null) => (limit === null ? null : BigInt(limit));

/** The security settings of a card for tenants. */
export function presentSecurity({ _id, security }: Card): CardSecurityView {
  const { online, pos, atm, contactless } = security.channels;
  return {
    card_id: _id,
    channels: { online, pos, atm, contactless },
    per_transaction_limit_minor: limitOf(security.per_transaction_limit_minor),
    daily_limit_minor: limitOf(security.daily_limit_minor),
    allowed_countries: security.allowed_countries,
    blocked_merchant_categories: security.blocked_merchant_categories,
  };
}

/** The stored form of security settings in a request. */
export const securityOf = (body: z.output<typeof cardSecurityBody>): CardSecurity => ({
  ...body,
  per_transaction_limit_minor: minorOf(body.per_transaction_limit_minor),
  daily_limit_minor: minorOf(body.daily_limit_minor),
});
