import type {
  AccountEvent,
  AccountProvider,
  AccountRequest,
  ReturnRequest,
} from '../../src/core/providers/account-provider.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';

type DeliveredMessage = { raw: Buffer; headers: Record<string, string | undefined> };

/** A provider of virtual accounts under test, with the customers and senders that select its behaviour. */
export type AccountHarness = {
  provider: AccountProvider;
  /** The same adapter, at an address where nothing answers. */
  unreachable: AccountProvider;
  customers: { assigned: string; refused: string; withoutAnswer: string; later: string };
  /** Properties in which good providers differ. */
  ways: {
    /** `message`: a refused assignment is pending, and a message tells its end. */
    refusals: 'answer' | 'message';
    /** `later`: a return is accepted as pending, and its outcome follows. */
    returns: 'at_once' | 'later';
  };
  /** The first message with a text, as it came in over HTTP. */
  messageWith(text: string): Promise<DeliveredMessage>;
  /** Sends money to an account, and returns the provider's id of the deposit. */
  pay(accountNumber: string, amountMinor: number, sender: string): Promise<string>;
  senders: { told: string; reversed: string; returnRefused: string };
  reverse(deposit: string): Promise<void>;
  close(): Promise<void>;
};

const never = new AbortController().signal;
const about = (reference: string) => ({ reference, handle: null });
/** Before every return of a test. */
const ages = new Date(Date.now() - 60_000);
/** The amount of a deposit whose return a provider refuses, if the amount selects that. */
const REFUSED_MINOR = 250_013;

/** Checks that an adapter keeps the promises of the port of virtual accounts. */
export function describeAccountProvider(name: string, open: () => Promise<AccountHarness>): void {
  describe(`the port of virtual accounts: ${name}`, () => {
    let at: AccountHarness;
    beforeAll(async () => {
      at = await open();
    });
    afterAll(() => at?.close());

    const request = (customer: string): AccountRequest => ({
      reference: newId('virtualAccount'),
      holder: { id: customer, name: 'Ada Obi', email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      currency: 'NGN',
      requestedAt: new Date(),
    });

    async function assigned() {
      const order = request(at.customers.assigned);
      const answer = await at.provider.assign(order, never);
      if (answer.kind !== 'assigned') throw new Error(`not assigned, but ${answer.kind}`);
      return { ...answer, reference: order.reference };
    }

    async function received(accountNumber: string, id: string) {
      const answer = await at.provider.verifyDeposit(id, never);
      if (answer.kind !== 'received') throw new Error(`not received, but ${answer.kind}`);
      expect(answer.deposit.accountNumber).toBe(accountNumber);
      return answer.deposit;
    }

    async function eventWith(text: string): Promise<AccountEvent> {
      const { raw, headers } = await at.messageWith(text);
      const reading = at.provider.readMessage(raw, headers, new Date());
      if (reading.kind !== 'event') throw new Error(`the message is ${reading.kind}`);
      return reading.event;
    }

    /** Sends a deposit back and returns the outcome; a provider that is never asked twice is looked up instead. */
    async function returned(order: ReturnRequest): Promise<string | undefined> {
      const answer = await at.provider.returnDeposit?.(order, never);
      if (at.ways.returns === 'at_once') return answer?.kind;
      expect(answer?.kind).toBe('pending');
      return eventually('the return has ended', async () => {
        const found = await at.provider.verifyReturn?.({ ...order, since: ages }, never);
        return found?.kind === 'pending' ? undefined : found?.kind;
      });
    }

    test('an account is assigned once under one reference, and is found by it', async () => {
      const order = request(at.customers.assigned);
      const first = await at.provider.assign(order, never);
      expect(first).toMatchObject({ kind: 'assigned', bankName: expect.any(String) as string });
      const again = await at.provider.assign({ ...order, requestedAt: new Date() }, never);
      const found = await at.provider.verifyAccount(about(order.reference), never);
      for (const { providerRequestId: _, ...same } of [again, found]) {
        expect(first).toMatchObject(same);
      }
    });

    test('a refusal is final, and an unknown reference is not found', async () => {
      const order = request(at.customers.refused);
      const answer = await at.provider.assign(order, never);
      if (at.ways.refusals === 'message') {
        expect(answer.kind).toBe('pending');
        const { about: said } = await eventWith(order.reference);
        const { reference } = order;
        expect(said).toMatchObject({ subject: 'account', reference, state: { kind: 'rejected' } });
      } else {
        const found = await at.provider.verifyAccount(about(order.reference), never);
        expect([answer.kind, found.kind]).toEqual(['rejected', 'rejected']);
      }
      expect(await at.provider.verifyAccount(about('va_none'), never)).toMatchObject({
        kind: 'not_found',
      });
    });

    test('an account that is assigned without an answer is unknown, and found afterwards', async () => {
      const order = request(at.customers.withoutAnswer);
      expect(await at.provider.assign(order, never)).toMatchObject({ kind: 'unknown' });
      expect(await at.provider.verifyAccount(about(order.reference), never)).toMatchObject({
        kind: 'assigned',
      });
    });

    test('an account that is assigned later is pending until then', async () => {
      const order = request(at.customers.later);
      expect(await at.provider.assign(order, never)).toMatchObject({ kind: 'pending' });
      await eventually('it is assigned', async () => {
        const { kind } = await at.provider.verifyAccount(about(order.reference), never);
        return kind === 'assigned' ? true : undefined;
      });
    });

    test('a closing may be repeated', async () => {
      const { handle, reference } = await assigned();
      for (const _ of [1, 2]) {
        const closing = { handle, reference, requestedAt: new Date() };
        expect(await at.provider.close(closing, never)).toMatchObject({ kind: 'closed' });
      }
      expect(await at.provider.verifyAccount({ reference, handle }, never)).toMatchObject({
        kind: 'closed',
      });
    });

    test('a deposit is found by its id, and in the list of its time', async () => {
      const { accountNumber } = await assigned();
      const from = new Date(Date.now() - 1_000);
      const id = await at.pay(accountNumber, 250_000, at.senders.told);
      const deposit = await received(accountNumber, id);
      expect(deposit).toMatchObject({ id, amountMinor: 250_000n, currency: 'NGN' });
      const to = new Date(Date.now() + 1_000);
      const page = await at.provider.listDeposits({ from, to, cursor: null }, never);
      if (page.kind !== 'page') throw new Error(`no page, but ${page.kind}`);
      expect(page.items.find((each) => each.id === id)).toEqual(deposit);
      expect(await at.provider.verifyDeposit('dpt_none', never)).toMatchObject({
        kind: 'not_found',
      });
    });

    test('a reversed deposit is reported as reversed, and is in no list', async () => {
      const { accountNumber } = await assigned();
      const from = new Date(Date.now() - 1_000);
      const id = await at.pay(accountNumber, 250_000, at.senders.told);
      await at.reverse(id);
      expect(await at.provider.verifyDeposit(id, never)).toMatchObject({ kind: 'reversed' });
      const window = { from, to: new Date(Date.now() + 1_000), cursor: null };
      const page = await at.provider.listDeposits(window, never);
      expect(page).toMatchObject({ kind: 'page' });
      expect('items' in page && page.items.some((each) => each.id === id)).toBe(false);
    });

    test('a deposit is told by a signed message, whose account and amount are claims', async () => {
      const { accountNumber } = await assigned();
      const id = await at.pay(accountNumber, 250_000, at.senders.told);
      const { about: said } = await eventWith(id);
      const claim = { id, accountNumber, amountMinor: 250_000n };
      expect(said).toEqual({ subject: 'deposit', kind: 'received', ...claim });
      const { raw, headers } = await at.messageWith(id);
      const changed = Buffer.from(raw);
      changed[0] = (changed[0] ?? 0) ^ 1;
      expect(at.provider.readMessage(changed, headers, new Date())).toEqual({
        kind: 'bad_signature',
      });
    });

    test('a return is carried out once under one marker, and found by it', async () => {
      const { accountNumber } = await assigned();
      const id = await at.pay(accountNumber, 250_000, at.senders.told);
      const marker = newId('deposit');
      const orderedAt = new Date();
      const order = { id, amountMinor: 250_000n, marker, orderedAt, requestedAt: new Date() };
      expect(await returned(order)).toBe('succeeded');
      if (at.provider.accounts.returns.kind === 'idempotent') {
        expect(await returned(order)).toBe('succeeded');
      }
      const about = { id, marker, orderedAt, since: ages };
      expect(await at.provider.verifyReturn?.(about, never)).toMatchObject({ kind: 'succeeded' });
      const other = { ...about, marker: newId('deposit') };
      expect(await at.provider.verifyReturn?.(other, never)).toMatchObject({ kind: 'not_found' });
    });

    test('a return that is refused is rejected', async () => {
      const { accountNumber } = await assigned();
      const id = await at.pay(accountNumber, REFUSED_MINOR, at.senders.returnRefused);
      const marker = newId('deposit');
      const orderedAt = new Date();
      const amountMinor = BigInt(REFUSED_MINOR);
      const order = { id, amountMinor, marker, orderedAt, requestedAt: orderedAt };
      expect(await returned(order)).toBe('rejected');
    });

    test('the traits agree with what the provider can do: requeries, and returns that can be asked about', () => {
      const { callsPerSecond, requeryEveryMs, assigning, returns } = at.provider.accounts;
      expect(callsPerSecond).toBeGreaterThan(0);
      expect(requeryEveryMs === null).toBe(!at.provider.requery);
      expect(!at.provider.returnDeposit || at.provider.verifyReturn !== undefined).toBe(true);
      // The port has no cancellation that could decide.
      expect([assigning.kind, returns.kind]).not.toContain('fence');
    });

    test('a call that nobody answers is unknown, and never throws', async () => {
      const { unreachable } = at;
      const window = { from: new Date(), to: new Date(), cursor: null };
      const closing = { reference: 'va_1', handle: 'va_1', requestedAt: new Date() };
      const answers = await Promise.all([
        unreachable.assign(request('c'), never),
        unreachable.verifyAccount(about('va_1'), never),
        unreachable.close(closing, never),
        unreachable.verifyDeposit('dpt_1', never),
        unreachable.listDeposits(window, never),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ kind: 'unknown' });
    });

    test('a message that is not signed is refused', () => {
      const raw = Buffer.from('{}');
      expect(at.provider.readMessage(raw, {}, new Date())).toEqual({ kind: 'bad_signature' });
    });
  });
}
