import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from '../../sandbox-bank/signature.js';
import { bulkClient } from './bulk.js';
import { newOperation, type CardOperation } from '../../src/capabilities/cards/card-operation.js';
import type { Service } from './service.js';
import { cardClient, issuedByHand } from './cards.js';
import { chargeOrder, newCustomer, paidByHand, paymentClient } from './payments.js';
import { boundToken, newRecurring } from './recurring.js';
import { order, type TestTenant } from './tenant.js';

/**
 * What the walks through the document put in place of a path's parameters. A new resource is a line here: under its
 * path up to the parameter, how a tenant comes by one; `made` has what the path names before it.
 */
export const fixtures: Record<string, Fixture> = {
  '/transfers/{id}': (tenant) => tenant.send(),
  '/transfers/bulk/{id}': async (tenant) => {
    const { body } = await bulkClient(tenant).send([order()]);
    return body.data.id;
  },
  '/payments/charges/{reference}': async (tenant) =>
    (await paymentClient(tenant).charge(chargeOrder())).body.data.reference,
  '/payments/refunds/{reference}': async (tenant, _made, service) => {
    const charge_reference = await paidCharge(tenant, service);
    const { body } = await paymentClient(tenant).refund({ charge_reference, amount_minor: 1_000 });
    return body.data.reference;
  },
  '/payments/recurring-charges/{id}': (tenant, _, service) => newRecurring(tenant, service),
  '/payments/customers/{customer_id}': async (tenant) =>
    (await paymentClient(tenant).token(newCustomer())).customer_id,
  '/cards/{id}': aCard,
  // As a lock that was done is stored: nothing has to be ordered for it.
  '/cards/{id}/operations/{operation_id}': async (tenant, made, { deps: { database } }) => {
    const about = {
      tenant_id: tenant.id,
      card_id: String(made['/cards/{id}']),
      type: 'lock',
    } as const;
    const ordered = newOperation({ ...about, provider: 'sandbox-bank' }, new Date(), 'accepted');
    const operation: CardOperation = { ...ordered, status: 'completed', next_check_at: null };
    await database.db.collection<CardOperation>('card_operations').insertOne(operation);
    return operation._id;
  },
  '/webhooks/cards/events/{card_id}': aCard,
  // What an issuer tells, without its having to tell it.
  '/webhooks/cards/events/{event_id}': async (tenant, made, service) => {
    const { providerEvents } = service.deps;
    const card = await aCard(tenant, made, service);
    const state = { subject: 'card', state: { kind: 'pending' } } as const;
    const told = { card: null, reference: card, name: 'card.pending', state, occurredAt: null };
    await providerEvents.receive('sandbox-bank', { ...told, dedupeKey: card });
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

/** One that can be used, also where no worker has it issued. */
async function aCard(
  tenant: TestTenant,
  _made: Record<string, string>,
  { deps, workers }: Service,
): Promise<string> {
  const cards = cardClient(tenant);
  if (workers.length > 0) return (await cards.issue()).id;
  return issuedByHand(deps, (await cards.create()).body.data.id);
}

/** As the example of a refund names it; also where no worker is told of it. */
async function paidCharge(tenant: TestTenant, { deps }: Service): Promise<string> {
  const reference = 'subscription-9-setup';
  await paymentClient(tenant).charge(chargeOrder('789', { reference, amount_minor: 5_000_000 }));
  await paidByHand(deps, tenant.id, reference);
  return reference;
}

/** The same for what the examples of bodies name, by the field. */
const inBodies: Record<string, Fixture> = {
  charge_reference: (tenant, _, service) => paidCharge(tenant, service),
  payment_token_id: (tenant, _, service) => boundToken(tenant, service),
};

/** An example of a body, with what it names made for this tenant. */
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

export type Fixture = (
  tenant: TestTenant,
  made: Record<string, string>,
  service: Service,
) => Promise<string>;

/** For routes that providers call: who, and a callback as it signs it. */
export const callbacks: Record<string, (env: Record<string, string>) => Callback> = {
  '/webhooks/payments/{provider}': ofNoInterest,
  '/webhooks/cards/{provider}': ofNoInterest,
};

function ofNoInterest(env: Record<string, string>): Callback {
  const body = JSON.stringify({ id: 'cb_1', event: 'of no interest' });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign(env['SANDBOX_BANK_SECRET'] ?? '', timestamp, body);
  const headers = { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature };
  return { provider: 'sandbox-bank', body, headers };
}

export type Callback = { provider: string; body: string; headers: Record<string, string> };

/** The fixture at a place of the document; fails with what to add. */
export function known<T>(all: Record<string, T>, resource: string, operation: string): T {
  const found = all[resource];
  if (found) return found;
  throw new Error(
    `${operation} is called with something that no test can make yet: add '${resource}' to test/support/fixtures.ts`,
  );
}
