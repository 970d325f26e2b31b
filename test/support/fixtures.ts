import { randomUUID } from 'node:crypto';
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from '../../sandbox-bank/shared/signature.js';
import { billClient } from './bill-payments.js';
import { newId } from '../../src/shared/ids.js';
import { disputeId } from '../../src/capabilities/disputes/record.js';
import { bulkClient } from './bulk.js';
import { toOutgoing } from '../../src/core/webhooks/deliveries.js';
import { depositId } from '../../src/capabilities/deposits/record.js';
import { newOperation, type CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { authorizationId } from '../../src/capabilities/card-authorizations/record.js';
import { acceptCardDispute } from '../../src/capabilities/card-disputes/mutations.js';
import { newCardDispute } from '../../src/capabilities/card-disputes/record.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import { request } from './authorizations.js';
import type { Service } from './service.js';
import { cardClient, issueDirectly } from './cards.js';
import { chargeBody, newCustomer, payDirectly, paymentClient } from './payments.js';
import { identityClient } from './identity.js';
import { boundToken, newRecurring } from './recurring.js';
import { accountClient, assignDirectly } from './virtual-accounts.js';
import { transferBody, type TestTenant } from './tenant.js';

/**
 * Fixtures for the path parameters of the OpenAPI document. A new resource needs one entry: its path up to the
 * parameter, and a function that creates a record for a tenant. `made` contains the ids of earlier parameters.
 */
export const fixtures: Record<string, Fixture> = {
  '/transfers/{id}': (tenant) => tenant.send(),
  '/transfers/bulk/{id}': async (tenant) => {
    const { body } = await bulkClient(tenant).send([transferBody()]);
    return body.data.id;
  },
  '/billpay/billers/{biller_id}': async () => 'kite-data',
  '/billpay/payments/{id}': (tenant) => billClient(tenant).send(),
  '/payments/charges/{reference}': async (tenant) =>
    (await paymentClient(tenant).charge(chargeBody())).body.data.reference,
  '/payments/refunds/{reference}': async (tenant, _made, service) => {
    const charge_reference = await paidCharge(tenant, service);
    const { body } = await paymentClient(tenant).refund({ charge_reference, amount_minor: 1_000 });
    return body.data.reference;
  },
  // Applies a provider's report directly, without the provider sending it.
  '/payments/disputes/{id}': async (tenant, _made, service) => {
    const reference = await paidCharge(tenant, service);
    const charge = await service.deps.charges.store.byReference(tenant.id, reference);
    if (!charge) throw new Error('there is no charge');
    const providerDisputeId = `case_${newId('request')}`;
    await service.deps.disputes.store.applyFact(
      charge,
      { attempt: charge.attempt, providerDisputeId },
      { ...openDisputeFact, amountMinor: 1_000n },
    );
    return disputeId(charge.provider, providerDisputeId);
  },
  '/payments/recurring-charges/{id}': (tenant, _, service) => newRecurring(tenant, service),
  '/payments/tokens/{id}': async (tenant) =>
    (await paymentClient(tenant).token(newCustomer({ id: 'customer-77' }))).payment_token_id,
  '/payments/customers/{customer_id}': aCustomer,
  '/identity/customers/{customer_id}': aCustomer,
  // Shared by all tenants: a type of check.
  '/identity/customers/{customer_id}/kyc/{check_type}': async () => 'bvn',
  '/identity/customers/{customer_id}/kyc/{kyc_id}': async (tenant, made) => {
    const customer = String(made['/identity/customers/{customer_id}']);
    return (await identityClient(tenant).verify(customer, { type: 'nin' })).body.data.id;
  },
  '/cards/{card_id}': aCard,
  // Decides a payment directly, without a request of the issuer.
  '/cards/authorizations/{id}': async (tenant, made, service) => {
    const card = await service.deps.cards.store.find(await aCard(tenant, made, service));
    if (!card?.issued) throw new Error('the card is not issued');
    const token = `auth_${card._id}`;
    const asked = request({ token, messageId: token, card: card.issued.issuer_card_id });
    await service.deps.cardAuthorizations.decisions.decide(card.provider, asked);
    await takenDirectly(card, token, service);
    return authorizationId(card.provider, token);
  },
  // Stores an open dispute directly, without a request to the issuer, which does not know it.
  '/cards/disputes/{id}': async (tenant, made, service) => {
    const card = await service.deps.cards.store.find(await aCard(tenant, made, service));
    if (!card) throw new Error('there is no card');
    const authorization = await takenDirectly(card, `disputed_${card._id}`, service);
    const words = { reason: 'fraud', explanation: 'Not ours', transactionReference: null } as const;
    const { dispute, operation } = newCardDispute(authorization, words, new Date());
    const fact = { key: 'submitted', kind: 'submitted', amount_minor: 0n, code: null } as const;
    await service.deps.groupCommit.commit(acceptCardDispute, {
      tenantId: tenant.id,
      dispute: { ...dispute, status: 'open', facts: [{ ...fact, at: new Date() }] },
      operation: { ...operation, status: 'completed', next_check_at: null },
      amountMinor: null,
      claim: null,
    });
    return dispute._id;
  },
  // Stores a completed lock directly, without a request to the issuer.
  '/cards/{card_id}/operations/{operation_id}': async (tenant, made, { deps: { database } }) => {
    const about = {
      tenant_id: tenant.id,
      card_id: String(made['/cards/{card_id}']),
      type: 'lock',
    } as const;
    const accepted = newOperation({ ...about, provider: 'sandbox-bank' }, new Date(), 'accepted');
    const operation: CardOperation = { ...accepted, status: 'completed', next_check_at: null };
    await database.db.collection<CardOperation>('card_operations').insertOne(operation);
    return operation._id;
  },
  '/virtual-accounts/{id}': aVirtualAccount,
  // Records a deposit directly, without the bank sending it.
  '/virtual-accounts/deposits/{deposit_id}': async (tenant, made, service) => {
    const { store } = service.deps.deposits;
    const accountId =
      made['/virtual-accounts/{id}'] ?? (await aVirtualAccount(tenant, made, service));
    const deposit = await store.record({
      id: depositId('sandbox-bank', accountId),
      tenantId: tenant.id,
      provider: 'sandbox-bank',
      reference: `dpt_${accountId}`,
      accountId,
      accountNumber: '9700000000',
      amountMinor: 1_000n,
      receivedAt: new Date(),
      via: 'poll',
      detail: 'a deposit of the tests',
    });
    const by = { via: 'poll', actor: null, providerRequestId: null, note: null } as const;
    const reversed = { kind: 'reversed', amountMinor: null, sessionId: null } as const;
    await store.applyFact(deposit, { ...by, instruction: 'confirm', ...reversed });
    return deposit._id;
  },
  // Stores an event directly, with a delivery to an endpoint that was removed since.
  '/events/{id}': async (tenant, _made, { deps: { webhooks } }) => {
    const transfer = await tenant.send();
    const draft = {
      tenantId: tenant.id,
      resource: transfer,
      // Above the numbers of the events that the transfer itself may emit.
      sequence: 1_000,
      name: 'transfer.completed',
      at: new Date(),
      data: { id: transfer },
    };
    const outgoing = toOutgoing(draft, [{ id: newId('webhookEndpoint') }], new Date());
    await webhooks.deliveries.insert([outgoing]);
    return outgoing.event._id;
  },
  '/webhooks/cards/events/{card_id}': aCard,
  // Stores an issuer's event directly, without the issuer sending it.
  '/webhooks/cards/events/{event_id}': async (tenant, made, service) => {
    const { providerEvents } = service.deps;
    const card = await aCard(tenant, made, service);
    const state = { subject: 'card', state: { kind: 'pending' } } as const;
    const message = { card: null, reference: card, name: 'card.pending', state, occurredAt: null };
    await providerEvents.receive('sandbox-bank', {
      port: 'cards',
      reading: { kind: 'event', event: { ...message, dedupeKey: card } },
      message: null,
    });
    const { items } = await providerEvents.store.list(
      { tenantId: tenant.id, card },
      { page: 1, limit: 1 },
    );
    return String(items[0]?._id);
  },
  '/webhooks/cards/events/{event_id}/replays/{id}': async (tenant, made) => {
    const event = made['/webhooks/cards/events/{event_id}'];
    const { body } = await tenant.call('POST', `/webhooks/cards/events/${event}/replay`, undefined);
    return body.data.id;
  },
};

/** The report of an open dispute, as a provider makes it. */
const openDisputeFact = {
  via: 'webhook',
  actor: null,
  providerRequestId: null,
  note: null,
  state: 'open',
  currency: 'NGN',
  funds: 'with_us',
  reason: null,
  dueAt: null,
} as const;
/** Creates a customer, whose id is no part of another one. */
async function aCustomer(tenant: TestTenant): Promise<string> {
  const customer = newCustomer({ id: `person-${randomUUID()}` });
  return (await paymentClient(tenant).token(customer)).customer_id;
}

/** The path parameters that belong to no tenant: every tenant sees the same. */
export const SHARED: ReadonlySet<string> = new Set([
  '/billpay/billers/{biller_id}',
  '/identity/customers/{customer_id}/kyc/{check_type}',
]);

/** Applies the report that the network has taken 5,000 with a card, without a message of the issuer. */
async function takenDirectly(
  { _id: card, tenant_id: tenantId, provider }: Pick<Card, '_id' | 'tenant_id' | 'provider'>,
  token: string,
  { deps }: Service,
) {
  const about = { tenantId, card, provider, token, key: token, at: new Date() };
  const state = {
    kind: 'cleared',
    messageId: token,
    amountMinor: 5_000n,
    final: true,
    forced: false,
  } as const;
  const { authorization } = await deps.cardAuthorizations.store.applyState({ ...about, state });
  if (!authorization) throw new Error('the payment is not stored');
  return authorization;
}

/** Creates a usable card, also without a worker. */
async function aCard(
  tenant: TestTenant,
  _made: Record<string, string>,
  { deps, hasWorker }: Service,
): Promise<string> {
  const cards = cardClient(tenant);
  if (hasWorker) return (await cards.issue()).id;
  return issueDirectly(deps, (await cards.create()).body.data.id);
}

let accountNumbers = 0;

/** Creates an active virtual account, also without a worker. */
async function aVirtualAccount(
  tenant: TestTenant,
  _made: Record<string, string>,
  { deps, hasWorker }: Service,
): Promise<string> {
  const accounts = accountClient(tenant);
  if (hasWorker) return (await accounts.active()).id;
  const number = `97${String((accountNumbers += 1)).padStart(8, '0')}`;
  return assignDirectly(deps, (await accounts.accepted()).id, number);
}

/** Creates a paid charge with the reference of the examples, also without a worker. */
async function paidCharge(tenant: TestTenant, { deps }: Service): Promise<string> {
  const reference = 'subscription-9-setup';
  await paymentClient(tenant).charge(chargeBody('789', { reference, amount_minor: 5_000_000 }));
  await payDirectly(deps, tenant.id, reference);
  return reference;
}

/** Fixtures for the fields of example bodies, by the field. */
const inBodies: Record<string, Fixture> = {
  charge_reference: (tenant, _, service) => paidCharge(tenant, service),
  payment_token_id: (tenant, _, service) => boundToken(tenant, service),
};

/** An example body, with the records that it names created for this tenant. */
export async function bodyFor(
  body: unknown,
  tenant: TestTenant,
  service: Parameters<Fixture>[2],
): Promise<unknown> {
  if (typeof body !== 'object' || body === null) return body;
  const own: Record<string, unknown> = { ...body };
  for (const [field, make] of Object.entries(inBodies)) {
    if (field in own) own[field] = await make(tenant, {}, service);
  }
  return own;
}

/** Creates a record for a tenant and returns its id. */
export type Fixture = (
  tenant: TestTenant,
  made: Record<string, string>,
  service: Service,
) => Promise<string>;

/** Signed callbacks for the routes of providers. */
export const callbacks: Record<string, (env: Record<string, string>) => Callback> = {
  '/webhooks/payments/{provider}': irrelevantCallback,
  '/webhooks/cards/{provider}': irrelevantCallback,
};

function irrelevantCallback(env: Record<string, string>): Callback {
  const occurred_at = new Date().toISOString();
  const body = JSON.stringify({ id: 'cb_1', event: 'bank.notice', occurred_at, data: null });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign(env['SANDBOX_BANK_SECRET'] ?? '', timestamp, body);
  const headers = { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature };
  return { provider: 'sandbox-bank', body, headers };
}

/** A callback with its signature. */
export type Callback = { provider: string; body: string; headers: Record<string, string> };

/** The fixture of a resource; throws with an instruction if there is none. */
export function fixtureOf<T>(all: Record<string, T>, resource: string, operation: string): T {
  const found = all[resource];
  if (found) return found;
  throw new Error(
    `${operation} has a parameter without a fixture: add '${resource}' to test/support/fixtures.ts`,
  );
}
