import type { z } from 'zod';
import type { chargeResource } from '../../src/capabilities/charges/schema.js';
import type { Charge } from '../../src/capabilities/charges/record.js';
import type { refundResource } from '../../src/capabilities/refunds/schema.js';
import type { Refund } from '../../src/capabilities/refunds/record.js';
import type { tokenResource } from '../../src/capabilities/payment-tokens/schema.js';
import type { Deps } from '../../src/composition/deps.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import {
  unlessKeyed,
  untilTaken,
  type CallOptions,
  type Reply,
  type TestTenant,
} from './tenant.js';

/** A charge in an answer. */
export type ChargeView = z.infer<typeof chargeResource>;
/** A refund in an answer. */
export type RefundView = z.infer<typeof refundResource>;
/** A payment token in an answer. */
export type TokenView = z.infer<typeof tokenResource>;
/** An answer whose data is not a transfer. */
export type PaymentReply<Data> = Omit<Reply, 'body'> & {
  body: Omit<Reply['body'], 'data'> & {
    data: Data;
    pagination?: { page: number; limit: number; total: number; pages: number; has_more: boolean };
  };
};

type Body = Record<string, unknown>;

let made = 0;
const next = () => `${process.pid}-${(made += 1)}`;

/** A customer with an id that no other test uses. */
export const newCustomer = (changes: Body = {}) => ({
  id: `customer-${next()}`,
  email: 'ada.obi@example.com',
  name: 'Ada Obi',
  ...changes,
});

/** The body of a charge on the provider's page. The suffix of its reference selects what the network does. */
export const chargeBody = (suffix = '789', changes: Body = {}) => ({
  amount_minor: 300_000,
  capture_mode: 'customer_action_required',
  customer: newCustomer(),
  reference: `charge-${next()}-${suffix}`,
  ...changes,
});

/** The network's fee on 300,000 kobo: 1.5 % and ₦100. */
export const FEE_MINOR = 14_500;

/** A client of the payment routes for one tenant. */
export function paymentClient(tenant: Pick<TestTenant, 'call'>) {
  const call = async <Data>(
    method: string,
    path: string,
    body?: Body,
    options?: CallOptions,
  ): Promise<PaymentReply<Data>> => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return (await tenant.call(method, path, sent, options)) as unknown as PaymentReply<Data>;
  };
  const at = (reference: string) => `/payments/charges/${encodeURIComponent(reference)}`;
  const get = async (reference: string): Promise<ChargeView> =>
    (await call<ChargeView>('GET', at(reference))).body.data;

  async function waitFor(reference: string, wanted: string | ((charge: ChargeView) => boolean)) {
    const fits = typeof wanted === 'string' ? (c: ChargeView) => c.status === wanted : wanted;
    let latest: ChargeView | null = null;
    return eventually(`${reference} is ${String(wanted)}`, async () => {
      latest = await get(reference);
      return fits(latest) ? latest : undefined;
    }).catch(async (error: unknown) => {
      const { body } = await call('GET', `${at(reference)}/timeline`);
      const found = JSON.stringify({ latest, timeline: body.data }, null, 1);
      throw new Error(`not as wanted, but ${found}`, { cause: error });
    });
  }

  const verify = (reference: string) => call<ChargeView>('POST', `${at(reference)}/verify`);

  return {
    call,
    get,
    waitFor,
    charge: (body: Body = chargeBody(), options?: CallOptions) =>
      unlessKeyed(
        (given) => call<ChargeView>('POST', '/payments/charges', body, given),
        options,
        body,
      ),
    /** Creates a charge and waits until its page is open. */
    async page(suffix?: string, changes?: Body): Promise<ChargeView & { url: string }> {
      const body = chargeBody(suffix, changes);
      const { status, text } = await untilTaken((under) =>
        call('POST', '/payments/charges', body, under),
      );
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      const charge = await waitFor(body.reference, 'requires_action');
      return { ...charge, url: String(charge.next_action?.url) };
    },
    /** Creates a charge and pays it, so that it can be refunded. */
    async paid(changes?: Body): Promise<ChargeView> {
      const { url, reference } = await this.page('789', changes);
      await onPage(url);
      return waitFor(reference, 'completed');
    },
    refund: (body: Body, options?: CallOptions) =>
      unlessKeyed(
        (given) => call<RefundView>('POST', '/payments/refunds', body, given),
        options,
        body,
      ),
    getRefund: async (reference: string): Promise<RefundView> =>
      (await call<RefundView>('GET', `/payments/refunds/${encodeURIComponent(reference)}`)).body
        .data,
    verify,
    /** Verifies a charge until it is as wanted: one question may take the provider too long. Returns the answer. */
    verifyUntil: (reference: string, fits: (charge: ChargeView) => boolean) =>
      eventually(`${reference} is verified as wanted`, async () => {
        const reply = await verify(reference);
        return fits(reply.body.data) ? reply : undefined;
      }),
    timeline: async (reference: string) =>
      (
        await call<{ type: string; actor: string; detail: string | null }[]>(
          'GET',
          `${at(reference)}/timeline`,
        )
      ).body.data,
    list: (query = '') => call<ChargeView[]>('GET', `/payments/charges${query}`),
    async token(customer: Body = newCustomer()): Promise<TokenView> {
      const reply = await untilTaken((under) =>
        call<TokenView>('POST', '/payments/tokens/card', { customer }, under),
      );
      if (reply.status !== 201) throw new Error(`not accepted: ${reply.text}`);
      return reply.body.data;
    },
    tokens: async (customer: string) =>
      (await call<TokenView[]>('GET', `/payments/customers/${encodeURIComponent(customer)}/tokens`))
        .body.data,
  };
}

/** A client of the payment routes. */
export type PaymentClient = ReturnType<typeof paymentClient>;

/** Acts as the customer on the provider's page: pays with a choice, or cancels. */
export async function onPage(url: string, choice: string | null = 'good'): Promise<Response> {
  const body = new URLSearchParams(
    choice === null ? { action: 'cancel' } : { action: 'pay', choice },
  );
  return fetch(url, { method: 'POST', body, redirect: 'manual' });
}

/** Creates a token that can be charged without the customer, with the outcome that `choice` of the page selects. */
export async function activeToken(
  client: PaymentClient,
  choice = 'good',
  customer = newCustomer(),
): Promise<{ token: TokenView; customer: ReturnType<typeof newCustomer> }> {
  const { payment_token_id } = await client.token(customer);
  const { url, reference } = await client.page('789', { customer, payment_token_id });
  await onPage(url, choice);
  await client.verify(reference);
  await client.waitFor(reference, 'completed');
  const made = await client.tokens(customer.id);
  const token = made.find((one) => one.payment_token_id === payment_token_id);
  if (!token) throw new Error('there is no token');
  return { token, customer };
}

/** Completes a charge by applying a provider's outcome directly, without a worker. */
export async function payDirectly(deps: Deps, tenantId: string, reference: string): Promise<void> {
  const charge = await deps.charges.store.byReference(tenantId, reference);
  if (!charge) throw new Error(`there is no ${reference}`);
  await deps.charges.store.applyFact(charge, {
    via: 'poll',
    actor: null,
    providerRequestId: null,
    note: null,
    attempt: charge.attempt,
    kind: 'succeeded',
    amountMinor: charge.amount_minor,
    currency: charge.currency,
    surchargeMinor: 0n,
    feeMinor: null,
    method: null,
  });
}

/** The effects at the network for a refund. */
export async function refundEffects(service: Service, reference: string) {
  const refund = await service.deps.database.db
    .collection<Refund>('refunds')
    .findOne({ reference });
  return service.bank.journal(String(refund?._id));
}

/** Number of times the network has refunded it. */
export const timesRefunded = async (service: Service, reference: string) =>
  (await refundEffects(service, reference)).filter(({ kind }) => kind === 'refunded').length;

/** The effects at the network for a charge, attempt by attempt. */
export async function acquirerEffects(service: Service, reference: string) {
  const charge = await service.deps.database.db
    .collection<Charge>('charges')
    .findOne({ reference });
  const all = await service.bank.journal();
  return all.filter((effect) => effect.reference.startsWith(`${charge?._id}-`));
}
