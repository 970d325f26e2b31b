import { acceptCard } from './mutations.js';
import { newId } from '../../shared/ids.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/accept.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { CardIssuer } from '../../core/providers/card-issuer.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import {
  NEW_AUTO_RELOAD,
  NO_LOCKS,
  NO_UNLOAD,
  OPEN_SECURITY,
  type AutoReload,
  type AutoReloadSettings,
  type Card,
} from './record.js';
import { newOperation, type CardOperation } from './card-operation.js';
import { presentCard, securityOf } from './presenter.js';
import { invalidField, amountWithin } from '../../platform/http/validate.js';
import { LEAST_FUNDING_MINOR, type AutoReloadBody, type CreateCardBody } from './schema.js';

/** Accepts a card and returns the response to the request. Saves it under the idempotency key, if there is one. */
export type CreateCard = (
  tenant: Tenant,
  body: CreateCardBody,
  claim: Claim | null,
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/** Creates the function that accepts cards: it commits card, issuing operation and saved response in one transaction, then starts the workflow. */
export function createCardCreation(deps: {
  groupCommit: GroupCommit;
  starter: { startSoon(operation: CardOperation): void };
  /** The issuer of new cards. Throws if there is none. */
  issuer: () => Pick<CardIssuer, 'name' | 'cards'>;
}): CreateCard {
  const { groupCommit, starter } = deps;

  return async (tenant, body, claim) => {
    const issuer = deps.issuer();
    const provider = issuer.name;
    if (!issuer.cards.types.includes(body.type)) {
      const message = `the issuer does not issue ${body.type} cards without the address of the holder`;
      throw invalidField('type', 'not_supported', message);
    }
    const card = newCard(tenant, body, issuer, new Date());
    const operation = newOperation(
      { tenant_id: tenant.id, card_id: card._id, type: 'issue', provider, reference: card._id },
      card.created_at,
      'the card is pending',
    );
    const answer = successResponse(presentCard(card));
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptCard, {
        tenantId: tenant.id,
        card,
        operation,
        claim,
        answer,
      }),
    );
    if (outcome.resource === card._id) starter.startSoon(operation);
    return outcome;
  };
}

function newCard(
  tenant: Tenant,
  body: CreateCardBody,
  { name: provider, cards: { balances, stateSequence } }: Pick<CardIssuer, 'name' | 'cards'>,
  now: Date,
): Card {
  return {
    _id: newId('card'),
    tenant_id: tenant.id,
    version: 1,
    event_sequence: 0,
    customer_id: body.customer_id,
    type: body.type,
    funding: body.funding,
    currency: body.currency,
    name: body.name ?? null,
    metadata: body.metadata ?? null,
    status: 'pending',
    provider,
    issued: null,
    available_minor: 0n,
    held_minor: 0n,
    open_holds: 0,
    state_control: {
      desired: 'open',
      sequence: 0,
      confirmed_sequence: 0,
      pending_operation_id: null,
      doubted_at: null,
      reported_at: null,
    },
    locks: NO_LOCKS,
    state_sequence: stateSequence,
    security: body.security ? securityOf(body.security) : OPEN_SECURITY,
    auto_reload: newAutoReload(tenant, body),
    balances,
    unload: NO_UNLOAD,
    daily_spend: { day: lagosDay(now), minor: 0n },
    failure: null,
    created_at: now,
    updated_at: now,
  };
}

/** Null switches auto-reload off and keeps the other settings. */
export function autoReloadSettings(
  tenant: Tenant,
  body: AutoReloadBody,
): AutoReloadSettings | null {
  const { enabled, threshold_minor: threshold, amount_minor: amount, daily_cap_minor: cap } = body;
  if (threshold === undefined || amount === undefined || cap === undefined) return null;
  return {
    enabled,
    threshold_minor: BigInt(threshold),
    amount_minor: amountWithin(tenant, { amount_minor: amount }, LEAST_FUNDING_MINOR),
    daily_cap_minor: BigInt(cap),
  };
}

/** The settings of a new card. They are in force as soon as it is active. */
function newAutoReload(tenant: Tenant, { auto_reload: body }: CreateCardBody): AutoReload | null {
  const settings = body && autoReloadSettings(tenant, body);
  return settings ? { ...NEW_AUTO_RELOAD, ...settings } : null;
}
