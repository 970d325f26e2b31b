import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountProvider, AccountRequest } from '../../src/core/providers/account-provider.js';
import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import {
  banksFor,
  CUSTOMER_DOMAIN,
  ENDINGS,
  never,
  settingsFor,
  startCounter,
  startFake,
  startFakeWithReceiver,
} from './support.js';

function adapterFor(url: string, timeoutMs?: number): AccountProvider {
  const settings = { ...settingsFor(url, timeoutMs), customerDomain: CUSTOMER_DOMAIN };
  return createPaystackAccounts(settings, banksFor(settings));
}

const request = (changes: Partial<AccountRequest> = {}, phone = '+2348012345678') => ({
  reference: newId('virtualAccount'),
  holder: { id: 'customer-77', name: 'Ada Ngozi Obi', email: 'ada@example.com', phone },
  accountName: 'Ada Obi',
  bankCode: null,
  currency: 'NGN' as const,
  requestedAt: new Date(),
  ...changes,
});

describe('virtual accounts by Paystack', () => {
  let started: Awaited<ReturnType<typeof startFakeWithReceiver>>;
  let fake: typeof started.fake;
  let receiver: typeof started.receiver;
  let provider: AccountProvider;

  beforeAll(async () => {
    started = await startFakeWithReceiver();
    ({ fake, receiver } = started);
    provider = adapterFor(fake.url);
  });
  afterAll(async () => {
    await started?.close();
  });

  async function assigned(changes?: Partial<AccountRequest>) {
    const order = request(changes);
    const account = await provider.assign(order, never);
    if (account.kind !== 'assigned') throw new Error(`not assigned, but ${account.kind}`);
    return { order, account };
  }
  const verify = (reference: string, handle: string | null = null) =>
    provider.verifyAccount({ reference, handle }, never);
  const accountsOf = (reference: string) =>
    fake.dedicatedAccounts().filter(({ email }) => email.startsWith(`${reference}@`));
  /** The reading of the message about a deposit or an account. */
  const messageWith = (text: string) =>
    eventually(`a message has ${text}`, () => {
      const found = receiver.received.find(({ raw }) => raw.toString().includes(text));
      return found && provider.readMessage(found.raw, found.headers, new Date());
    });

  describe('assignment', () => {
    test('an account is assigned once under one reference, and is found by it and by its number there', async () => {
      const { order, account } = await assigned();
      expect(account).toMatchObject({
        accountNumber: expect.stringMatching(/^[0-9]{10}$/) as string,
        bankName: 'Wema Bank',
      });
      const again = await provider.assign({ ...order, requestedAt: new Date() }, never);
      const found = [
        again,
        await verify(order.reference),
        await verify(order.reference, account.handle),
      ];
      for (const each of found) {
        expect(each).toMatchObject({ kind: 'assigned', accountNumber: account.accountNumber });
      }
      expect(accountsOf(order.reference)).toHaveLength(1);
    });

    test('Paystack gets the names and the phone number, and no address and no id of the tenant’s', async () => {
      const { order } = await assigned();
      const customer = fake.customers().find(({ email }) => email.startsWith(order.reference));
      expect(customer).toMatchObject({
        email: `${order.reference}@${CUSTOMER_DOMAIN}`,
        firstName: 'Ada Ngozi',
        lastName: 'Obi',
        phone: '+2348012345678',
      });
      const sent = JSON.stringify(fake.requests);
      expect(sent).not.toContain('ada@example.com');
      expect(sent).not.toContain('customer-77');
      const single = await assigned({ holder: { ...order.holder, name: 'Ada' } });
      expect(
        fake.customers().find(({ email }) => email.startsWith(single.order.reference)),
      ).toMatchObject({ firstName: 'Ada', lastName: 'Ada' });
    });

    test('two accounts of one customer are two accounts', async () => {
      const [first, second] = [await assigned(), await assigned()];
      expect(first.account.accountNumber).not.toBe(second.account.accountNumber);
    });

    test('the wished bank is asked for by Paystack’s own word, and another one is refused', async () => {
      await assigned({ bankCode: '044' });
      expect(fake.requests.at(-1)?.body).toMatchObject({ preferred_bank: 'access-bank' });
      for (const bankCode of ['058', '999']) {
        expect(await provider.assign(request({ bankCode }), never)).toMatchObject({
          kind: 'rejected',
          code: 'no_such_bank',
        });
      }
    });

    test.each(['drop_after', 'error_500_after'] as const)(
      'an answer that is lost (%s) is unknown, and the account is found afterwards',
      async (fault) => {
        fake.plan('assign', fault);
        const order = request();
        expect(await provider.assign(order, never)).toMatchObject({ kind: 'unknown' });
        expect(await verify(order.reference)).toMatchObject({ kind: 'assigned' });
      },
    );

    test('a request that was lost is not found, and its repeat is carried out', async () => {
      fake.plan('assign', 'drop_before');
      const order = request();
      expect(await provider.assign(order, never)).toMatchObject({ kind: 'unknown' });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      expect(await provider.assign(order, never)).toMatchObject({ kind: 'assigned' });
      expect(provider.accounts.assigning).toMatchObject({ kind: 'idempotent' });
    });

    test('a reference that was never used is not found', async () => {
      expect(await verify(newId('virtualAccount'))).toMatchObject({ kind: 'not_found' });
    });

    test('an assignment that comes later is pending, and is told by a message that names our record', async () => {
      const order = request({}, '+2348012345001');
      expect(await provider.assign(order, never)).toMatchObject({ kind: 'pending' });
      expect(await messageWith(order.reference)).toMatchObject({
        kind: 'event',
        event: {
          about: { subject: 'account', reference: order.reference, state: { kind: 'assigned' } },
        },
      });
      expect(await verify(order.reference)).toMatchObject({ kind: 'assigned' });
    });

    test('a refused assignment is told by a message', async () => {
      const order = request({}, '+2348012345002');
      expect(await provider.assign(order, never)).toMatchObject({ kind: 'pending' });
      expect(await messageWith(order.reference)).toMatchObject({
        event: { about: { state: { kind: 'rejected', code: 'not_eligible' } } },
      });
    });

    test.each([
      ['throttle_seconds', {}],
      ['starter_business', { fault: 'suspended' }],
      ['invalid_key', { fault: 'credentials' }],
    ] as const)('%s did nothing, and is tried again after a pause', async (fault, expected) => {
      fake.plan('assign', fault);
      const order = request();
      expect(await provider.assign(order, never)).toMatchObject({
        kind: 'throttled',
        retryAfterMs: expect.any(Number) as number,
        ...expected,
      });
      expect(accountsOf(order.reference)).toHaveLength(0);
    });

    test.each(['system_malfunction', 'new_code', 'html'] as const)(
      '%s proves nothing: neither an account nor a refusal',
      async (fault) => {
        fake.plan('assign', fault);
        expect(await provider.assign(request(), never)).toMatchObject({ kind: 'unknown' });
      },
    );
  });

  test('a closing may be repeated, and is found by the account’s number at Paystack', async () => {
    const { order, account } = await assigned();
    const closing = { ...order, handle: account.handle };
    for (const _ of [1, 2]) {
      expect(await provider.close(closing, never)).toMatchObject({ kind: 'closed' });
    }
    expect(await verify(order.reference, account.handle)).toMatchObject({ kind: 'closed' });
    const unknown = { ...closing, handle: '1' };
    expect(await provider.close(unknown, never)).toMatchObject({ kind: 'not_found' });
    fake.plan('close_account', 'drop_before');
    const other = await assigned();
    const answer = await provider.close({ ...other.order, handle: other.account.handle }, never);
    expect(answer).toMatchObject({ kind: 'unknown' });
    expect(await verify(other.order.reference, other.account.handle)).toMatchObject({
      kind: 'assigned',
    });
  });

  describe('deposits', () => {
    const list = async (from: Date) => {
      const window = { from, to: new Date(Date.now() + 1_000), cursor: null };
      const page = await provider.listDeposits(window, never);
      if (page.kind !== 'page') throw new Error(`no page, but ${page.kind}`);
      return page.items;
    };

    test('a deposit is told by a message, confirmed by its reference, and in the list of its time', async () => {
      const { account } = await assigned();
      const from = new Date(Date.now() - 1_000);
      const id = fake.deposit(account.accountNumber, 250_000, { narration: 'Invoice 42' });
      expect(await messageWith(id)).toMatchObject({
        kind: 'event',
        event: {
          about: { subject: 'deposit', id, accountNumber: account.accountNumber },
        },
      });
      const answer = await provider.verifyDeposit(id, never);
      expect(answer).toMatchObject({
        kind: 'received',
        deposit: {
          id,
          accountNumber: account.accountNumber,
          amountMinor: 250_000n,
          feeMinor: 2_500n,
          narration: 'Invoice 42',
          sender: { name: 'Invented Sender' },
        },
      });
      const { deposit } = answer as Extract<typeof answer, { kind: 'received' }>;
      expect((await list(from)).find((each) => each.id === id)).toEqual(deposit);
    });

    test.each([
      ['no message told is in the list', { tell: false }, 'received'],
      ['Paystack itself does not know is nowhere', { known: false }, 'not_found'],
    ])('one that %s, and is told after a requery', async (_title, arrival, before) => {
      const { account } = await assigned();
      const from = new Date(Date.now() - 1_000);
      const id = fake.deposit(account.accountNumber, 1_000, arrival);
      const isListed = async () => (await list(from)).some((each) => each.id === id);
      expect(await provider.verifyDeposit(id, never)).toMatchObject({ kind: before });
      expect(await isListed()).toBe(before === 'received');
      const day = new Date().toISOString().slice(0, 10);
      for (const _ of [1, 2]) {
        const { accountNumber, handle } = account;
        expect(await provider.requery?.({ accountNumber, handle, day }, never)).toMatchObject({
          kind: 'requested',
        });
      }
      expect(await messageWith(id)).toMatchObject({ kind: 'event' });
      expect(await isListed()).toBe(true);
    });

    test('money that came on no account of ours is a deposit that nobody has', async () => {
      const from = new Date(Date.now() - 1_000);
      const id = fake.payElsewhere(70_000);
      expect(await messageWith(id)).toMatchObject({
        event: { about: { subject: 'deposit', id, accountNumber: '' } },
      });
      expect(await provider.verifyDeposit(id, never)).toMatchObject({
        kind: 'received',
        deposit: { amountMinor: 70_000n, accountNumber: '' },
      });
      expect((await list(from)).map((each) => each.id)).toContain(id);
    });

    test('a reversed deposit is reported as reversed, and is in no list', async () => {
      const { account } = await assigned();
      const from = new Date(Date.now() - 1_000);
      const id = fake.deposit(account.accountNumber, 5_000);
      fake.setTransaction(id, 'reversed');
      expect(await provider.verifyDeposit(id, never)).toMatchObject({ kind: 'reversed' });
      expect((await list(from)).map((each) => each.id)).not.toContain(id);
      expect(await provider.verifyDeposit('Tnothing', never)).toMatchObject({ kind: 'not_found' });
    });
  });

  describe('returns', () => {
    /** A deposit, and the order to return it. The last two digits of the amount select what the fake does. */
    async function order(amount: number) {
      const { account } = await assigned();
      const id = fake.deposit(account.accountNumber, amount, { tell: false });
      const at = new Date();
      const times = { orderedAt: at, requestedAt: at };
      return { id, amountMinor: BigInt(amount), marker: newId('deposit'), ...times };
    }
    const since = new Date();
    const verifyReturn = (about: { id: string; marker: string; orderedAt: Date }) =>
      provider.verifyReturn?.({ ...about, since }, never);
    const refundsOf = (id: string) =>
      fake.journal().filter((entry) => entry.kind === 'refunded' && entry.reference === id);

    test('a return is one refund of the transaction, and is found by its marker', async () => {
      const wanted = await order(250_000);
      expect(await provider.returnDeposit?.(wanted, never)).toMatchObject({ kind: 'pending' });
      await eventually('it is returned', async () =>
        (await verifyReturn(wanted))?.kind === 'succeeded' ? true : undefined,
      );
      expect(refundsOf(wanted.id)).toHaveLength(1);
      const other = { ...wanted, marker: newId('deposit') };
      expect(await verifyReturn(other)).toMatchObject({ kind: 'not_found' });
    });

    test('a lost answer is unknown, and the return is found; it is never sent again', async () => {
      const wanted = await order(250_000);
      fake.plan('refund', 'drop_after');
      expect(await provider.returnDeposit?.(wanted, never)).toMatchObject({ kind: 'unknown' });
      expect((await verifyReturn(wanted))?.kind).toMatch(/pending|succeeded/);
      expect(provider.accounts.returns).toEqual({ kind: 'never' });
    });

    test.each([
      ['waits for the sender’s account', 250_012, 'operator', { kind: 'pending' }],
      ['fails', 250_013, 'return_refused', { kind: 'rejected', scope: 'instruction' }],
    ])('a return %s', async (_how, amount, sign, expected) => {
      const wanted = await order(amount);
      await provider.returnDeposit?.(wanted, never);
      await eventually('it has ended', async () => {
        const state = await verifyReturn(wanted);
        return JSON.stringify(state).includes(sign) ? true : undefined;
      });
      expect(await verifyReturn(wanted)).toMatchObject(expected);
    });

    test('too small a balance at Paystack did nothing, and is a fault of the provider', async () => {
      const poor = await startFake({ balance: 0 });
      const at = adapterFor(poor.url);
      const id = poor.deposit('0990000001', 5_000, { tell: false });
      const wanted = {
        id,
        amountMinor: 5_000n,
        marker: newId('deposit'),
        orderedAt: since,
        requestedAt: since,
      };
      expect(await at.returnDeposit?.(wanted, never)).toMatchObject({
        kind: 'throttled',
        fault: 'float',
      });
      await poor.close();
    });
  });

  test('a return that a thousand refunds have followed is found by several questions, each of a few pages', async () => {
    const own = await startFake();
    const at = adapterFor(own.url);
    const id = own.deposit('0990000001', 250_015, { tell: false });
    const marker = newId('deposit');
    const order = {
      id,
      amountMinor: 250_015n,
      marker,
      orderedAt: new Date(),
      requestedAt: new Date(),
    };
    await at.returnDeposit?.(order, never);
    const other = own.payElsewhere(500_000);
    for (let i = 0; i < 1_100; i += 1) own.refundAtDesk(other, 115);
    const ask = () => at.verifyReturn?.({ ...order, since: order.requestedAt }, never);
    const asked = own.requests.length;
    expect(await ask()).toMatchObject({ kind: 'unknown' });
    expect(own.requests.length - asked).toBe(10);
    expect(await ask()).toMatchObject({ kind: 'pending' });
    await own.close();
  });

  test('a list longer than a page is read to its end', async () => {
    const own = await startFake();
    for (let i = 0; i < 130; i += 1) own.deposit('0990000001', 1_000 + i, { tell: false });
    const at = adapterFor(own.url);
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const window = { from: new Date(Date.now() - 60_000), to: new Date(), cursor };
      const page: Awaited<ReturnType<typeof at.listDeposits>> = await at.listDeposits(
        window,
        never,
      );
      if (page.kind !== 'page') throw new Error(`no page, but ${page.kind}`);
      for (const { id } of page.items) seen.add(id);
      cursor = page.next;
    } while (cursor !== null);
    expect(seen.size).toBe(130);
    await own.close();
  });

  describe('a call that nobody answers', () => {
    test('is unknown, and never throws', async () => {
      const unreachable = adapterFor('http://127.0.0.1:1');
      const window = { from: new Date(), to: new Date(), cursor: null };
      const order = request();
      const answers = await Promise.all([
        unreachable.assign(order, never),
        unreachable.verifyAccount({ reference: order.reference, handle: null }, never),
        unreachable.verifyAccount({ reference: order.reference, handle: '1' }, never),
        unreachable.close({ ...order, handle: '1' }, never),
        unreachable.verifyDeposit('T1', never),
        unreachable.listDeposits(window, never),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ kind: 'unknown' });
    });

    const at = new Date();
    const order = { amountMinor: 100n, marker: newId('deposit'), orderedAt: at, requestedAt: at };
    test.each(
      ENDINGS.flatMap(([how, end, timeoutMs]) => [
        [
          'a closing',
          how,
          end,
          timeoutMs,
          (at: AccountProvider) => at.close({ ...request(), handle: '1' }, never),
        ] as const,
        [
          'a return',
          how,
          end,
          timeoutMs,
          async (at: AccountProvider) => at.returnDeposit?.({ ...order, id: 'T1' }, never),
        ] as const,
      ]),
    )('%s is one request, also after %s', async (_what, _how, end, timeoutMs, call) => {
      const counter = await startCounter(end);
      expect(await call(adapterFor(counter.url, timeoutMs))).toMatchObject({ kind: 'unknown' });
      await sleep(50);
      expect(counter.requests()).toBe(1);
      counter.close();
    });
  });
});
