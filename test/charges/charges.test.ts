import { allAtOnce } from '../support/at-once.js';
import {
  activeToken,
  chargeBody,
  FEE_MINOR,
  acquirerEffects,
  newCustomer,
  onPage,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import { eventually } from '../support/eventually.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Api, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** So many days that attempts follow each other within seconds. */
const DUNNING_DAYS = '0.00001,0.00003,0.00005';
const NET_MINOR = 300_000 - FEE_MINOR;

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;
let receiver: Receiver;

beforeAll(async () => {
  const env = { BURSAR_DUNNING_DAYS: DUNNING_DAYS, BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' };
  service = await startService({ env });
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const timesPaid = async (reference: string) =>
  (await acquirerEffects(service, reference)).filter(({ kind }) => kind === 'charged').length;

/** Waits for the events of a charge and checks that exactly these arrived, in numbered order. */
async function expectEvents(reference: string, ...names: string[]) {
  const received = () =>
    receiver
      .events()
      .filter(({ data }) => data['reference'] === reference)
      .toSorted((a, b) => a.sequence - b.sequence)
      .map(({ event }) => event);
  await eventually(`the events of ${reference} arrive`, () =>
    received().length >= names.length ? true : undefined,
  );
  expect(received()).toEqual(names);
}

describe('tokens', () => {
  test('are unbound until a setup charge is paid, and of their tenant and customer alone', async () => {
    const customer = newCustomer();
    const token = await payments.token(customer);
    expect(token).toMatchObject({ type: 'card', status: 'unbound', customer_id: customer.id });
    expect(await payments.tokens(customer.id)).toEqual([token]);
    const other = paymentClient(await service.tenant());
    const path = `/payments/customers/${customer.id}/tokens`;
    expect((await other.call('GET', path)).status).toBe(404);
  });

  test('of a bank account show its last digits alone, and are bound on the page of the bank', async () => {
    const customer = newCustomer();
    const body = { customer, account_number: '0123456789', bank_code: '058' };
    const made = await payments.call<TokenView>('POST', '/payments/tokens/bank-account', body);
    expect(made.body.data).toMatchObject({ type: 'bank_account', last4: '6789' });
    expect(made.text).not.toContain('0123456789');
    const payment_token_id = made.body.data.payment_token_id;
    const { url, reference } = await payments.page('789', { customer, payment_token_id });
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    expect((await payments.tokens(customer.id))[0]).toMatchObject({
      status: 'active',
      bank_code: '058',
    });
  });

  test('are made of no card: what looks like one is refused, and nothing of it is kept or logged', async () => {
    const customer = newCustomer();
    // Made here, so that no file has a number.
    const number = ['4084', '0840', '8408', '4081'].join('');
    const refused: [string, Record<string, unknown>][] = [
      ['number', { customer, number }],
      ['card_number', { customer, card_number: '1' }],
      ['cvv', { customer, cvv: '408' }],
      ['customer.name', { customer: { ...customer, name: `Ada ${number}` } }],
      ['metadata.cvc', { customer, metadata: { cvc: 408 } }],
      ['metadata.order', { customer, metadata: { order: number } }],
    ];
    for (const [field, body] of refused) {
      const {
        status,
        text,
        body: answer,
      } = await payments.call('POST', '/payments/tokens/card', body);
      const fields = answer.error.details?.issues?.map((issue) => issue.field);
      expect([status, answer.error.code]).toEqual([400, 'validation_error']);
      expect(fields).toContain(field);
      expect(text).not.toContain(number);
    }
    const named = { customer, [number]: true };
    expect((await payments.call('POST', '/payments/tokens/card', named)).text).not.toContain(
      number,
    );
    expect(service.logs()).not.toContain(number);
    expect(
      await service.deps.paymentTokens.store.list(tenant.id, customer.id, { page: 1, limit: 1 }),
    ).toEqual({
      items: [],
      total: 0,
    });
  });
});

describe('a charge on the provider’s page', () => {
  /** A charge whose time is over while the first tests run, and the process that has made it. */
  let hasty: Awaited<ReturnType<PaymentClient['page']>>;
  let api: Api;

  beforeAll(async () => {
    api = await service.newApi({ BURSAR_CHARGE_EXPIRES_MS: '15000' });
    await api.start();
    hasty = await paymentClient(tenant.at(api.url)).page();
  });
  afterAll(() => api?.kill());

  test('sends the customer there, and credits the wallet when it is paid', async () => {
    const before = await tenant.balance();
    const sentBody = chargeBody('789', { return_url: 'https://shop.example/paid?cart=7' });
    const accepted = await payments.charge(sentBody, { headers: { prefer: 'wait=10' } });
    expect(accepted.status).toBe(201);
    expect(accepted.headers.get('location')).toBe(`/api/v1/payments/charges/${sentBody.reference}`);
    const { next_action: action } = await payments.waitFor(sentBody.reference, 'requires_action');
    const back = await onPage(String(action?.url));
    const returned = new URL(String(back.headers.get('location')));
    expect(returned.searchParams.get('cart')).toBe('7');
    // The reference in the return URL also leads to the charge.
    const named = String(returned.searchParams.get('reference'));
    const verified = await payments.verifyUntil(named, ({ status }) => status === 'completed');
    expect(verified.body.data).toMatchObject({
      reference: sentBody.reference,
      status: 'completed',
      next_action: null,
    });
    expect(await tenant.balance()).toEqual({ available: before.available + NET_MINOR, held: 0 });
    await expectEvents(sentBody.reference, 'charge.requires_action', 'charge.completed');
  });

  allAtOnce((test) => {
    test('ends as the table of test values has it, and is paid once where it is', async () => {
      const table: [what: string, suffix: string, choice: string | null, code: string | null][] = [
        ['paid later, told by callback', '001', 'good', null],
        ['errors at first', '007', 'good', null],
        ['callbacks out of order', '009', 'good', null],
        ['throttled at first', '010', 'good', null],
        ['low funds', '789', 'low_funds', 'insufficient_funds'],
        ['a stolen card', '789', 'stolen', 'stolen_card'],
        ['a customer who leaves', '789', null, 'abandoned'],
      ];
      const found = await Promise.all(
        table.map(async ([what, suffix, choice, code]) => {
          const { reference, url } = await payments.page(suffix);
          await onPage(url, choice);
          const wanted = code === null ? 'completed' : 'failed';
          const { failure, next_action: action } = await payments.waitFor(reference, wanted);
          await expectEvents(reference, 'charge.requires_action', `charge.${wanted}`);
          return [what, failure?.code ?? null, action, await timesPaid(reference)];
        }),
      );
      expect(found).toEqual(table.map(([what, , , code]) => [what, code, null, code ? 0 : 1]));
    });

    test('that is declined on the page and then paid there is completed, and nothing else is reported', async () => {
      const { reference, url } = await payments.page('016');
      expect(await (await onPage(url, 'stolen')).text()).toContain('Declined');
      const status = await eventually('the decline is known', async () => {
        const { body } = await payments.verify(reference);
        const notes = (await payments.timeline(reference)).map(({ detail }) => detail);
        const isKnown = notes.includes('declined on the page, which is still open: stolen_card');
        return isKnown ? body.data.status : undefined;
      });
      expect(status).toBe('requires_action');
      await onPage(url);
      await payments.waitFor(reference, 'completed');
      await expectEvents(reference, 'charge.requires_action', 'charge.completed');
    });

    test('that is declined on the page and then left fails once, when the page is over', async () => {
      const { reference, url } = await payments.page('016');
      await onPage(url, 'low_funds');
      await onPage(url, null);
      const { failure } = await payments.waitFor(reference, 'failed');
      expect(failure?.code).toBe('abandoned');
      await expectEvents(reference, 'charge.requires_action', 'charge.failed');
    });
  });

  test('of which another amount is paid is in suspense: attention is raised, and the wallet is not credited', async () => {
    const before = await tenant.balance();
    const { reference, url } = await payments.page('014');
    await onPage(url);
    const charge = await payments.waitFor(reference, ({ attention }) => attention !== null);
    expect(charge).toMatchObject({ status: 'requires_action', completed_at: null });
    expect(charge.attention?.reason).toMatch(/another amount/);
    expect((await payments.verify(reference)).body.data.status).not.toBe('completed');
    expect(await tenant.balance()).toEqual(before);
    const postings = service.deps.database.db.collection('postings');
    const { _id: id } = (await service.deps.charges.store.byReference(tenant.id, reference)) ?? {};
    expect(await postings.countDocuments({ _id: `${id}/suspense-1` as never })).toBe(1);
  });

  test('whose fee becomes known later is credited less the fee, once', async () => {
    const before = await tenant.balance();
    const { reference, url } = await payments.page('017');
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    await eventually('the fee is booked', async () =>
      (await tenant.balance()).available === before.available + NET_MINOR ? true : undefined,
    );
    expect(await service.bank.tellFee(reference, FEE_MINOR)).toBe(200);
    expect(await service.bank.tellFee(reference, FEE_MINOR + 1)).toBe(200);
    const charge = await payments.waitFor(reference, ({ attention }) => attention !== null);
    expect(charge.attention?.reason).toContain('another fee');
    expect((await tenant.balance()).available).toBe(before.available + NET_MINOR);
  });

  test('is completed once, for returns, callbacks and verifications in any number and order', async () => {
    const before = await tenant.balance();
    let seed = 11;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const references = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const { reference, url } = await payments.page(i % 3 === 0 ? '009' : '789');
        const acts = [
          () => onPage(url),
          () => onPage(url, 'low_funds'),
          () => payments.verify(reference),
          () => payments.verify(reference),
        ];
        const drawn = Array.from({ length: 10 }, () => acts[Math.floor(random() * acts.length)]);
        // The payment is first among what is done on the page: whoever pays there, pays once.
        await Promise.all([onPage(url), ...drawn.map(async (act) => act?.())]);
        return reference;
      }),
    );
    let credited = 0;
    for (const reference of references) {
      const charge = await payments.waitFor(
        reference,
        ({ status }) => status === 'completed' || status === 'failed',
      );
      const paid = await timesPaid(reference);
      expect(paid).toBe(charge.status === 'completed' ? 1 : 0);
      if (charge.status === 'completed') credited += NET_MINOR;
    }
    expect(credited).toBeGreaterThan(0);
    expect(await tenant.balance()).toEqual({ available: before.available + credited, held: 0 });
  });

  test('fails when the customer’s time is over; a payment that is proven later completes it all the same', async () => {
    const { reference, url } = hasty;
    const failed = await payments.waitFor(reference, 'failed');
    expect(failed.failure?.code).toBe('expired');
    await onPage(url);
    const paid = await payments.waitFor(reference, 'completed');
    expect(paid.failure).toBeNull();
    await expectEvents(reference, 'charge.requires_action', 'charge.failed', 'charge.completed');
  });
});

describe('a merchant-initiated charge', () => {
  const merchant = async (choice = 'good', suffix = '789') => {
    const { token, customer } = await activeToken(payments, choice);
    const { payment_token_id } = token;
    const capture_mode = 'merchant_initiated';
    return chargeBody(suffix, { capture_mode, payment_token_id, customer });
  };

  allAtOnce((test) => {
    test('ends as the table of test values has it, and is charged once where it is', async () => {
      type Row = [
        what: string,
        choice: string,
        suffix: string,
        code: string | null,
        attempts: number,
      ];
      const table: Row[] = [
        ['paid at once', 'good', '789', null, 1],
        ['paid later, told by callback', 'good', '001', null, 1],
        ['charged and never answered: asked about, not repeated', 'good', '004', null, 1],
        ['errors at first', 'good', '007', null, 1],
        ['told out of order', 'good', '009', null, 1],
        ['throttled at first', 'good', '010', null, 1],
        ['declined for good', 'later_declined', '789', 'card_declined', 1],
        ['an expired card', 'later_expired', '789', 'expired_card', 1],
        ['declined softly twice, then paid', 'later_low_funds_twice', '789', null, 3],
        ['always declined softly', 'later_low_funds', '789', 'insufficient_funds', 4],
      ];
      const found = await Promise.all(
        table.map(async ([what, choice, suffix, code]) => {
          const sentBody = await merchant(choice, suffix);
          expect((await payments.charge(sentBody)).status).toBe(201);
          const wanted = code === null ? 'completed' : 'failed';
          const { failure } = await payments.waitFor(sentBody.reference, wanted);
          await expectEvents(sentBody.reference, `charge.${wanted}`);
          const stored = await service.deps.charges.store.byReference(
            tenant.id,
            sentBody.reference,
          );
          const paid = await timesPaid(sentBody.reference);
          return [what, failure?.code ?? null, stored?.attempt, paid];
        }),
      );
      expect(found).toEqual(
        table.map(([what, , , code, attempts]) => [what, code, attempts, code ? 0 : 1]),
      );
    });

    test('that is never answered and never made is sent again as far as that is safe, then an operator is called', async () => {
      const sentBody = await merchant('good', '005');
      await payments.charge(sentBody);
      const charge = await payments.waitFor(
        sentBody.reference,
        ({ attention }) => attention !== null,
      );
      expect(charge.status).toBe('processing');
      expect(await timesPaid(sentBody.reference)).toBe(0);
    });

    test('a charge is counted in its tenant’s own days', async () => {
      const own = await service.tenant({ balanceMinor: 0 });
      await service.deps.tenants.update(own.id, { dunningDays: [] });
      const client = paymentClient(own);
      const { token, customer } = await activeToken(client, 'later_low_funds');
      const { payment_token_id } = token;
      const sentBody = chargeBody('789', {
        capture_mode: 'merchant_initiated',
        payment_token_id,
        customer,
      });
      await client.charge(sentBody);
      await client.waitFor(sentBody.reference, 'failed');
      const stored = await service.deps.charges.store.byReference(own.id, sentBody.reference);
      expect(stored?.attempt).toBe(1);
    });

    test('has nothing of the customer or of the authorization in its history', async () => {
      const sentBody = await merchant();
      await payments.charge(sentBody);
      await payments.waitFor(sentBody.reference, 'completed');
      const stored = await service.deps.charges.store.byReference(tenant.id, sentBody.reference);
      const handle = service.deps.temporal.client.workflow.getHandle(`charge/${stored?._id}`);
      const history = JSON.stringify(await handle.fetchHistory(), (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
      );
      const token = await service.deps.paymentTokens.store.get(
        tenant.id,
        String(stored?.payment_token_id),
      );
      const customer = sentBody.customer as { email: string; name: string };
      expect(token?.authorization).toMatch(/^authz_/);
      for (const secret of [String(token?.authorization), customer.email, customer.name]) {
        expect(history).not.toContain(secret);
      }
    });
  });
});
