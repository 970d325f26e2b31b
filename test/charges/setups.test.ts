import { randomUUID } from 'node:crypto';
import {
  requestSetup,
  transitionSetup,
  type SetupFact,
} from '../../src/capabilities/payment-tokens/setup.js';
import { deletedToken, type PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { withSetupEvent } from '../../src/capabilities/payment-tokens/webhook-events.js';
import type { SavedMethod } from '../../src/core/providers/payment-provider.js';
import { eventually } from '../support/eventually.js';
import {
  chargeBody,
  newCustomer,
  onPage,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import { paymentToken } from '../support/recurring.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

const NOW = new Date('2026-11-21T09:30:00.000Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);

describe('a page without a payment', () => {
  const method: SavedMethod = {
    code: 'authz_1',
    type: 'card',
    brand: 'visa',
    last4: '4081',
    expiryMonth: 12,
    expiryYear: 2030,
    bankCode: null,
    bankName: null,
    reusable: true,
    email: null,
  };
  const saved: SetupFact = { kind: 'saved', method };
  const opened: SetupFact = { kind: 'opened', url: 'https://page', handle: null, expiresAt: null };
  const unbound = paymentToken({ status: 'unbound', authorization: null });
  const asked = (token = unbound) =>
    requestSetup(token, { returnUrl: null, expiresAt: later(1_000), checkAt: NOW }, NOW);
  /** The token after these facts about its page. */
  const after = (token: PaymentToken, ...facts: (SetupFact & { of?: number; at?: Date })[]) =>
    facts.reduce(
      (one, { of = one.setup?.number ?? 0, at = NOW, ...fact }) =>
        transitionSetup(one, of, fact, at) ?? one,
      token,
    );

  test('binds its token once a method is saved, in any order of the facts', () => {
    const end = { status: 'active', authorization: 'authz_1', next_check_at: null };
    for (const facts of [
      [opened, saved],
      [saved, opened],
      [opened, { kind: 'declined', code: 'card_declined' } as const, saved],
      [opened, { kind: 'expired', at: later(2_000) } as const, saved],
      [opened, saved, { kind: 'declined', code: 'card_declined' } as const, saved],
    ]) {
      const token = after(asked(), ...facts);
      expect(token).toMatchObject({ ...end, setup: { status: 'saved', url: null, failure: null } });
    }
  });

  test('whose address was lost is given up for another one, and binds all the same', () => {
    const token = after(asked(), { kind: 'page_lost' });
    expect(token.setup).toMatchObject({ number: 2, status: 'pending' });
    expect(after(token, { ...opened, of: 1 })).toBe(token);
    expect(after(token, { ...saved, of: 1 }).status).toBe('active');
  });

  test('is over when the customer’s time is, and not before', () => {
    const open = after(asked(), opened);
    expect(after(open, { kind: 'expired' })).toBe(open);
    const { setup } = after(open, { kind: 'expired', at: later(1_000) });
    expect(setup).toMatchObject({ status: 'failed', failure: 'expired', url: null });
  });

  test('fails with a method that can not be charged again', () => {
    const token = after(asked(), opened, {
      kind: 'saved',
      method: { ...method, reusable: false },
    });
    expect([token.status, token.setup?.failure]).toEqual(['unbound', 'method_not_reusable']);
  });

  test('of a deleted token is over, and what is saved on it until its time is over is revoked at the provider', () => {
    const token = deletedToken(after(asked(), opened), NOW);
    expect(token).toMatchObject({
      status: 'revoked',
      next_check_at: expect.any(Date),
      setup: { status: 'failed', failure: 'token_revoked', url: null },
    });
    expect(after(token, { kind: 'expired' })).toBe(token);
    expect(after(token, { kind: 'expired', at: later(1_000) }).next_check_at).toBeNull();
    for (const facts of [[saved], [{ kind: 'expired', at: later(1_000) } as const, saved]]) {
      expect(after(token, ...facts)).toMatchObject({ status: 'revoked', revoking: 'authz_1' });
    }
  });

  test('tells its tenant each state that it sees, once and numbered, and never the method', () => {
    const events = (token: PaymentToken, ...facts: (SetupFact & { at?: Date })[]) => {
      let before = token;
      return facts.flatMap(({ at = NOW, ...fact }) => {
        const next = transitionSetup(before, before.setup?.number ?? 0, fact, at);
        if (!next) return [];
        const told = withSetupEvent(before, next);
        before = told.next;
        expect(JSON.stringify(told.event)).not.toContain('authz_1');
        return told.event ? [`${told.event.sequence} ${told.event.name}`] : [];
      });
    };
    expect(events(asked(), { kind: 'page_lost' }, opened, opened, saved, saved)).toEqual([
      '1 payment_token.setup_requires_action',
      '2 payment_token.setup_completed',
    ]);
    const declined = { kind: 'declined', code: 'card_declined' } as const;
    expect(events(asked(), opened, declined, declined, saved)).toEqual([
      '1 payment_token.setup_requires_action',
      '2 payment_token.setup_failed',
      '3 payment_token.setup_completed',
    ]);
    const open = after(asked(), opened);
    const { event } = withSetupEvent(open, deletedToken(open, NOW));
    expect(event).toMatchObject({
      name: 'payment_token.setup_failed',
      data: { status: 'revoked', setup: { failure: { code: 'token_revoked' } } },
    });
    expect(withSetupEvent(unbound, deletedToken(unbound, NOW)).event).toBeNull();
  });

  test('that nobody has opened is not asked about once its token is deleted', () => {
    expect(deletedToken(asked(), NOW).next_check_at).toBeNull();
  });
});

describe('a request to set a payment token up without a payment', () => {
  let service: Service;
  let tenant: TestTenant;
  let payments: PaymentClient;
  let receiver: Receiver;

  beforeAll(async () => {
    // A bank that gives the address of a page once.
    const env = { SANDBOX_BANK_PAGES: 'new_reference', BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' };
    service = await startService({ oneProcess: true, env });
    tenant = await service.tenant({ balanceMinor: 0 });
    payments = paymentClient(tenant);
    receiver = await startReceiver();
    await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });
  afterEach(() => service?.bank.faults([]));

  const setUp = (id: string, body: Record<string, unknown> = {}, client = payments) =>
    client.call<TokenView>('POST', `/payments/tokens/${id}/setup`, body, {
      headers: { prefer: 'wait=10' },
    });
  const get = async (id: string) =>
    (await payments.call<TokenView>('GET', `/payments/tokens/${id}`)).body.data;
  const waitFor = (id: string, wanted: string) =>
    eventually(`the set-up of ${id} is ${wanted}`, async () => {
      const token = await get(id);
      return token.setup?.status === wanted ? token : undefined;
    });
  const pageOf = ({ setup }: TokenView) => String(setup?.next_action?.url);

  test('leads to a page, on which the customer saves a card that can be charged, and no money moves', async () => {
    const customer = newCustomer();
    const { id, reply } = await inTries(
      3,
      async () => {
        const { payment_token_id } = await payments.token(customer);
        const shop = { return_url: 'https://shop.example/saved' };
        return { id: payment_token_id, reply: await setUp(payment_token_id, shop) };
      },
      (made) => made.reply.body.data.setup?.status !== 'pending',
    );
    const { status, headers, body } = reply;
    expect([status, body.data.status, body.data.setup?.status]).toEqual([
      201,
      'unbound',
      'requires_action',
    ]);
    expect(headers.get('location')).toBe(`/api/v1/payments/tokens/${id}`);
    const left = await onPage(pageOf(body.data));
    expect(left.headers.get('location')).toContain('https://shop.example/saved');
    const token = await waitFor(id, 'completed');
    expect(token).toMatchObject({
      status: 'active',
      brand: expect.any(String),
      last4: expect.any(String),
    });
    expect(await tenant.balance()).toEqual({ available: 0, held: 0 });
    const { customer: _, ...charge } = chargeBody('789', { capture_mode: 'merchant_initiated' });
    await payments.charge({ ...charge, payment_token_id: id });
    await payments.waitFor(charge.reference, 'completed');

    const again = await setUp(id);
    expect([again.status, again.body.error.code]).toEqual([422, 'invalid_state']);
  });

  test('opens one page, however often and with whatever key it is made', async () => {
    const { payment_token_id: id } = await payments.token();
    const key = randomUUID();
    const replies = await Promise.all([
      setUp(id, { idempotency_key: key }),
      setUp(id, { idempotency_key: key }),
      setUp(id),
      setUp(id),
    ]);
    const page = pageOf(await waitFor(id, 'requires_action'));
    // A page that takes longer than a request waits is not in its answer.
    const answered = replies.filter(({ body }) => body.data.setup?.status !== 'pending');
    for (const { body } of answered) expect(pageOf(body.data)).toBe(page);
    const late = await setUp(id, { idempotency_key: key });
    expect([late.headers.get('idempotent-replayed'), pageOf(late.body.data)]).toEqual([
      'true',
      pageOf(await get(id)),
    ]);
    const reused = await setUp(id, { idempotency_key: key, return_url: 'https://x.example' });
    expect([reused.status, reused.body.error.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('that is declined or left fails, and another one opens another page', async () => {
    const { payment_token_id: id } = await payments.token();
    await setUp(id);
    const first = pageOf(await waitFor(id, 'requires_action'));
    await onPage(first, null);
    const left = await waitFor(id, 'failed');
    expect([left.status, left.setup?.failure?.code]).toEqual(['unbound', 'cancelled']);
    await setUp(id);
    const next = pageOf(await waitFor(id, 'requires_action'));
    expect(next).not.toBe(first);
    await onPage(next);
    expect((await waitFor(id, 'completed')).status).toBe('active');
    const events = () => receiver.events().filter(({ data }) => data['payment_token_id'] === id);
    await eventually('its events have arrived', () => (events().length >= 4 ? true : undefined));
    const inOrder = events().toSorted((a, b) => a.sequence - b.sequence);
    expect(inOrder.map(({ event, sequence }) => [event, sequence])).toEqual([
      ['payment_token.setup_requires_action', 1],
      ['payment_token.setup_failed', 2],
      ['payment_token.setup_requires_action', 3],
      ['payment_token.setup_completed', 4],
    ]);
  });

  test('whose first answer is lost leads to another page, and one whose event is lost is asked about', async () => {
    const { payment_token_id: id } = await payments.token();
    await service.bank.faults([{ call: 'setup', kind: 'drop_after', probability: 1 }]);
    const sent = setUp(id);
    await eventually('the address of a page is lost', async () => {
      const { deps } = service;
      const token = await deps.paymentTokens.store.get(tenant.id, id);
      return (token?.setup?.number ?? 0) > 1 ? true : undefined;
    });
    await service.bank.faults([{ call: 'callback', kind: 'lost_event', probability: 1 }]);
    await sent;
    await onPage(pageOf(await waitFor(id, 'requires_action')));
    await setUp(id);
    expect((await waitFor(id, 'completed')).status).toBe('active');
  });

  test('fails once its time is over, although the provider never answers', async () => {
    const { payment_token_id: id } = await payments.token();
    await service.bank.faults([{ call: 'setup', kind: 'drop_before', probability: 1 }]);
    await payments.call('POST', `/payments/tokens/${id}/setup`, {});
    await service.deps.database.db
      .collection<PaymentToken>('payment_tokens')
      .updateOne({ _id: id, tenant_id: tenant.id }, { $set: { 'setup.expires_at': new Date() } });
    expect((await waitFor(id, 'failed')).setup?.failure?.code).toBe('expired');
    const stored = await service.deps.paymentTokens.store.get(tenant.id, id);
    expect(stored?.next_check_at).toBeNull();
  });

  test('whose token is deleted has the method revoked that the customer still saves, also if no event tells it', async () => {
    const before = (await service.bank.journal()).length;
    const { payment_token_id: id } = await payments.token();
    await setUp(id);
    const page = pageOf(await waitFor(id, 'requires_action'));
    await service.bank.faults([{ call: 'callback', kind: 'lost_event', probability: 1 }]);
    await payments.call('DELETE', `/payments/tokens/${id}`);
    await onPage(page);
    // The repeat changes nothing, and has the provider asked at once.
    await payments.call('DELETE', `/payments/tokens/${id}`);
    const stored = await eventually('its provider has revoked the method', async () => {
      const token = await service.deps.paymentTokens.store.get(tenant.id, id);
      const kinds = (await service.bank.journal()).slice(before).map(({ kind }) => kind);
      return kinds.includes('authorization_revoked') && token?.revoking === null
        ? token
        : undefined;
    });
    expect(stored).toMatchObject({ status: 'revoked', next_check_at: null });
  });

  test('is for its tenant alone, and names a wrong address', async () => {
    const { payment_token_id: id } = await payments.token();
    const other = paymentClient(await service.tenant());
    expect((await setUp(id, {}, other)).status).toBe(404);
    const bad = await setUp(id, { return_url: 'ftp://shop.example' });
    expect([bad.status, bad.body.error.field]).toEqual([400, 'return_url']);
    expect((await get(id)).setup).toBeUndefined();
  });
});
