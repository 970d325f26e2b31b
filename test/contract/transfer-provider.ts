import { readAll } from '../../src/core/providers/pages.js';
import { NO_TURN } from '../../src/core/providers/port.js';
import { newId } from '../../src/shared/ids.js';
import type {
  TransferRequest,
  TransferProvider,
  VerifyAnswer,
} from '../../src/core/providers/transfer-provider.js';

/** Scenarios that a recipient selects. A provider's own test accounts are mapped to these. */
export type Scenario =
  | 'paid'
  | 'refused'
  | 'paidLaterByCallback'
  | 'paidWithoutAnswer'
  | 'lostWithoutAnswer'
  | 'throttledFirst'
  | 'unknownAccount'
  | 'enquiryWithoutAnswer';

export type DeliveredCallback = { raw: Buffer; headers: Record<string, string | undefined> };

export type TransferProviderHarness = {
  /** With a time limit of a second or less for each call. */
  provider: TransferProvider;
  /** The same provider at an address without a server. */
  unreachable: TransferProvider;
  recipients: Record<Scenario, { account: string; bankCode: string }>;
  /** Our code for the refusal of the `refused` recipient. */
  refusalCode: string;
  /** Properties in which good providers differ. */
  ways: {
    /** `later`: a submission is accepted as pending, and its outcome follows. */
    outcomes: 'at_once' | 'later';
    feeMinor: bigint;
    sessionId: RegExp;
    /** The answer to the repeat of a submission, at a provider that de-duplicates. */
    repeats: 'first_answer' | 'conflict';
  };
  /** Sets our balance at the provider. */
  setBalance(amountMinor: bigint): Promise<void>;
  /** The first callback about a transfer, as it came in over HTTP. */
  callbackAbout(reference: string): Promise<DeliveredCallback>;
  close(): Promise<void>;
};

/** The contract of every transfer provider. Runs against the real provider, or its sandbox, over HTTP. */
export function describeTransferProvider(
  name: string,
  setup: () => Promise<TransferProviderHarness>,
): void {
  describe(`transfer provider ${name}`, () => {
    let harness: TransferProviderHarness;
    let provider: TransferProvider;

    beforeAll(async () => {
      harness = await setup();
      provider = harness.provider;
    });
    afterAll(() => harness.close());

    const never = new AbortController().signal;
    const orderFor = (scenario: Scenario, amountMinor = 250_000n): TransferRequest => ({
      reference: newId('transfer'),
      clientReference: 'INV/2026-001',
      amountMinor,
      currency: 'NGN',
      recipient: { ...harness.recipients[scenario], name: null },
      narration: 'Invoice 001',
      requestedAt: new Date(),
    });
    /** The provider's id of the preparation, where it wants one. */
    const handleOf = async (order: TransferRequest) => {
      const ready = await provider.prepare?.(order, never);
      if (ready && ready.kind !== 'ready') throw new Error(`not prepared: ${ready.kind}`);
      return ready?.handle ?? null;
    };
    const submit = async (order: TransferRequest, signal = never) =>
      provider.submit({ ...order, handle: await handleOf(order) }, signal);
    /** The answer to a submission with this outcome. */
    const answered = <Outcome extends { kind: string }>(outcome: Outcome) =>
      harness.ways.outcomes === 'at_once' ? outcome : { kind: 'pending' };
    const verify = (reference: string, handle: string | null = null) =>
      provider.verify({ reference, handle }, never);
    const verifyUntil = async (reference: string, kind: VerifyAnswer['kind']) => {
      for (;;) {
        const answer = await verify(reference);
        if (answer.kind === kind) return answer;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    test('a payment is reported as paid, with its session and the trace of the call', async () => {
      const order = orderFor('paid');
      const { feeMinor, sessionId } = harness.ways;
      const paid = {
        kind: 'succeeded',
        amountMinor: 250_000n,
        feeMinor,
        sessionId: expect.stringMatching(sessionId) as string,
        providerRequestId: expect.any(String) as string,
      };
      expect(await submit(order)).toMatchObject(answered(paid));
      expect(await verifyUntil(order.reference, 'succeeded')).toEqual(paid);
    });

    test.each([1n, 100n, 99_999_999n, 500_000_000n])(
      'the amount %s arrives to the unit',
      async (amountMinor) => {
        const order = orderFor('paid', amountMinor);
        const paid = { kind: 'succeeded', amountMinor };
        expect(await submit(order)).toMatchObject(answered(paid));
        expect(await verifyUntil(order.reference, 'succeeded')).toMatchObject(paid);
      },
    );

    test('a conclusive refusal of a transfer is reported with our code', async () => {
      const order = orderFor('refused');
      const refusal = { kind: 'rejected', code: harness.refusalCode };
      expect(await submit(order)).toMatchObject(answered(refusal));
      expect(await verifyUntil(order.reference, 'rejected')).toMatchObject(refusal);
    });

    test('the outcome of a pending payment is reported by callback, and afterwards by verification', async () => {
      const order = orderFor('paidLaterByCallback');
      expect(await submit(order)).toMatchObject({ kind: 'pending' });
      const { raw, headers } = await harness.callbackAbout(order.reference);
      const reading = provider.readMessage(raw, headers, new Date());
      expect(reading).toMatchObject({
        kind: 'event',
        event: {
          reference: order.reference,
          state: { kind: 'succeeded', amountMinor: 250_000n },
          occurredAt: expect.any(Date) as Date,
        },
      });
      expect(await verifyUntil(order.reference, 'succeeded')).toMatchObject({
        amountMinor: 250_000n,
      });
    });

    test('a submit without an answer is unknown, and the payment is found by its reference', async () => {
      const order = orderFor('paidWithoutAnswer');
      expect(await submit(order)).toEqual({
        kind: 'unknown',
        reason: 'timeout',
        providerRequestId: null,
      });
      const { kind } = await verify(order.reference);
      expect(['succeeded', answered({ kind }).kind]).toContain(kind);
      expect(await verifyUntil(order.reference, 'succeeded')).toMatchObject({
        amountMinor: 250_000n,
      });
    });

    test('a submit without an answer and without effect is unknown, and verified as not found', async () => {
      const order = orderFor('lostWithoutAnswer');
      expect(await submit(order)).toMatchObject({ kind: 'unknown' });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('a throttled submit was not executed, has a pause, and is paid when it is submitted again', async () => {
      const order = orderFor('throttledFirst');
      const answer = await submit(order);
      expect(answer).toMatchObject({ kind: 'throttled' });
      expect(answer.kind === 'throttled' && answer.retryAfterMs).toBeGreaterThan(0);
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      const again = { ...order, requestedAt: new Date() };
      expect(await submit(again)).toMatchObject(answered({ kind: 'succeeded' }));
      await verifyUntil(order.reference, 'succeeded');
    });

    test('a repeat at a provider that de-duplicates gets the first answer, or is a conflict', async () => {
      if (provider.traits.resendSafety.kind !== 'idempotent') return;
      const order = orderFor('paid');
      const first = await submit(order);
      const second = await submit({ ...order, requestedAt: new Date() });
      expect(second).toEqual({
        ...(harness.ways.repeats === 'conflict' ? { kind: 'unknown', reason: 'conflict' } : first),
        providerRequestId: expect.any(String) as string,
      });
      await verifyUntil(order.reference, 'succeeded');
    });

    test('a known reference with another amount at a provider that de-duplicates is no refusal of the transfer', async () => {
      if (provider.traits.resendSafety.kind !== 'idempotent') return;
      const order = orderFor('paid');
      await submit(order);
      const other = await submit({ ...order, amountMinor: 1n });
      expect(['unknown', 'succeeded']).toContain(other.kind);
      expect(await verifyUntil(order.reference, 'succeeded')).toMatchObject({
        amountMinor: 250_000n,
      });
    });

    test('the traits agree with what the provider can do: a cancellation that decides, a balance that has a level', () => {
      const { callsPerSecond, bucket, submissions, resendSafety } = provider.traits;
      const { floatAlertMinor = 0n } = provider.traits;
      expect(callsPerSecond).toBeGreaterThan(0);
      expect(submissions?.callsPerSecond ?? callsPerSecond).toBeGreaterThan(0);
      // A rate of submissions in the bucket of all other calls would be counted twice.
      expect(submissions !== undefined && submissions.bucket === bucket).toBe(false);
      expect(resendSafety.kind === 'fence' && !provider.cancel).toBe(false);
      expect(floatAlertMinor > 0n && !provider.balance).toBe(false);
    });

    test('a reference that was never used is not found', async () => {
      expect(await verify(newId('transfer'))).toMatchObject({ kind: 'not_found' });
    });

    test('transfers to one account, whose preparations may have one handle, are told apart with and without it', async () => {
      const [first, second, unsent] = [orderFor('paid'), orderFor('paid', 100n), orderFor('paid')];
      const orders = [first, second, unsent];
      const handles = await Promise.all(orders.map(handleOf));
      for (const order of [first, second]) {
        await submit(order);
        await verifyUntil(order.reference, 'succeeded');
      }
      const found = await Promise.all(
        orders.flatMap(({ reference }, i) => [
          verify(reference, handles[i]),
          verify(reference, null),
        ]),
      );
      const [paid, other] = [{ amountMinor: 250_000n }, { amountMinor: 100n }];
      const absent = { kind: 'not_found' };
      expect(found).toMatchObject([paid, paid, other, other, absent, absent]);
    });

    test('a handle that the provider does not know is no evidence that a transfer was not made', async () => {
      const order = orderFor('paid');
      await submit(order);
      await verifyUntil(order.reference, 'succeeded');
      const { kind } = await verify(order.reference, 'handle_of_nobody');
      expect(['succeeded', 'unknown']).toContain(kind);
    });

    test('a call to an unreachable transfer provider is unknown, never an error and never a refusal', async () => {
      const { unreachable } = harness;
      const order = orderFor('paid');
      const unknown = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const handle = await handleOf(order);
      expect(await unreachable.submit({ ...order, handle }, never)).toEqual(unknown);
      if (unreachable.prepare) expect(await unreachable.prepare(order, never)).toEqual(unknown);
      // Without a turn nothing is sent, so nothing is unreachable.
      const unturned = await unreachable.prepare?.(
        { ...order, takeTurn: async () => false },
        never,
      );
      expect(unturned ?? NO_TURN).toEqual(NO_TURN);
      expect(await unreachable.verify({ reference: order.reference, handle }, never)).toEqual(
        unknown,
      );
      expect(await unreachable.resolveAccount(order.recipient, never)).toEqual({
        kind: 'no_answer',
        reason: 'connection',
      });
    });

    test('name enquiry: a name, no such account, or no answer', async () => {
      const enquire = (scenario: Scenario) =>
        provider.resolveAccount(harness.recipients[scenario], never);
      expect(await enquire('paid')).toEqual({
        kind: 'found',
        name: expect.stringMatching(/\S/) as string,
        bankName: expect.stringMatching(/\S/) as string,
      });
      expect(await enquire('unknownAccount')).toEqual({ kind: 'not_found' });
      expect(await enquire('enquiryWithoutAnswer')).toEqual({
        kind: 'no_answer',
        reason: 'timeout',
      });
    });

    test('the list of reachable banks has a name and both codes for each, or there is no answer', async () => {
      const answer = await provider.listBanks(never);
      if (answer.kind !== 'banks') throw new Error('there are banks');
      for (const bank of answer.banks) {
        expect(bank).toEqual({
          name: expect.stringMatching(/\S/) as string,
          code: expect.stringMatching(/^\d{3,6}$/) as string,
          nipCode: expect.stringMatching(/^\d{6}$/) as string,
        });
      }
      const { bankCode } = harness.recipients.paid;
      expect(answer.banks.map(({ code }) => code)).toContain(bankCode);
      expect(await harness.unreachable.listBanks(never)).toEqual({
        kind: 'no_answer',
        reason: 'connection',
      });
    });

    test('a call that its caller aborts is unknown at once', async () => {
      const caller = new AbortController();
      const order = orderFor('lostWithoutAnswer');
      const handle = await handleOf(order);
      const calls = [
        provider.submit({ ...order, handle }, caller.signal),
        provider.resolveAccount(harness.recipients.enquiryWithoutAnswer, caller.signal),
      ];
      caller.abort();
      const late = provider.verify({ reference: order.reference, handle }, caller.signal);
      expect((await Promise.all([...calls, late])).map(({ kind }) => kind)).toEqual([
        'unknown',
        'no_answer',
        'unknown',
      ]);
    });

    test('a submit that was aborted before it was sent is never sent', async () => {
      const order = orderFor('paid');
      await submit(order, AbortSignal.abort());
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('a transfer that is cancelled before it was executed never is, and one that was paid stays paid', async () => {
      if (!provider.cancel) return;
      const order = orderFor('paid');
      const handle = await handleOf(order);
      const cancel = (reference: string) => provider.cancel?.({ reference, handle }, never);
      for (const _ of [1, 2]) {
        expect(await cancel(order.reference)).toMatchObject({ kind: 'cancelled' });
      }
      expect(await submit(order)).toMatchObject({ kind: 'unknown', reason: 'conflict' });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      const paid = orderFor('paid');
      await submit(paid);
      await verifyUntil(paid.reference, 'succeeded');
      expect(await cancel(paid.reference)).toMatchObject({
        kind: 'succeeded',
        amountMinor: paid.amountMinor,
      });
    });

    test('the list of a time has its transfers with their states, the newest first, and no others', async () => {
      const listed = async (from: Date, to: Date) => {
        const absent = { kind: 'unknown', reason: 'unreadable', providerRequestId: null } as const;
        const answer = await readAll(
          async (cursor) => (await provider.list?.({ from, to, cursor }, never)) ?? absent,
        );
        if (answer.kind !== 'all') throw new Error(`the list is ${answer.kind}`);
        return answer.items;
      };
      if (!provider.list) return;
      const from = new Date();
      const [paid, refused] = [orderFor('paid'), orderFor('refused')];
      await submit(paid);
      await verifyUntil(paid.reference, 'succeeded');
      await submit(refused);
      await verifyUntil(refused.reference, 'rejected');
      const found = await listed(from, new Date(Date.now() + 60_000));
      expect(found).toMatchObject([
        {
          reference: refused.reference,
          state: { kind: 'rejected', code: harness.refusalCode },
        },
        {
          reference: paid.reference,
          state: { kind: 'succeeded', amountMinor: paid.amountMinor },
        },
      ]);
      const dayMs = 24 * 60 * 60 * 1000;
      const [before, until] = [2 * dayMs, dayMs].map((ms) => new Date(from.getTime() - ms));
      expect(await listed(before as Date, until as Date)).toEqual([]);
    });

    test('a transfer beyond our balance was not executed and is no refusal; it is paid once the balance is there, which falls by amount and fee', async () => {
      const balance = async () => {
        const answer = await provider.balance?.(never);
        if (answer?.kind !== 'balance') throw new Error(`the balance is ${answer?.kind}`);
        expect(answer.currency).toBe('NGN');
        return answer.availableMinor;
      };
      if (!provider.balance) return;
      const order = orderFor('paid');
      await harness.setBalance(100n);
      expect(await balance()).toBe(100n);
      expect(await submit(order)).toMatchObject({
        kind: 'rejected_temporarily',
        reason: 'float',
        afterMs: expect.any(Number) as number,
      });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      expect(await balance()).toBe(100n);
      const enough = 10_000_000_000n;
      await harness.setBalance(enough);
      expect(await submit({ ...order, requestedAt: new Date() })).toMatchObject(
        answered({ kind: 'succeeded' }),
      );
      await verifyUntil(order.reference, 'succeeded');
      expect(await balance()).toBe(enough - order.amountMinor - harness.ways.feeMinor);
      expect(await harness.unreachable.balance?.(never)).toMatchObject({ kind: 'unknown' });
    });

    describe('callbacks', () => {
      let callback: DeliveredCallback;
      let reference: string;
      const read = (change: Partial<DeliveredCallback>, now = new Date()) => {
        const { raw, headers } = { ...callback, ...change };
        return provider.readMessage(raw, headers, now);
      };

      beforeAll(async () => {
        const order = orderFor('paidLaterByCallback');
        reference = order.reference;
        await submit(order);
        callback = await harness.callbackAbout(reference);
      });

      test('a repeat of one delivery has the same key', () => {
        expect(read({})).toMatchObject({ kind: 'event' });
        expect(read({})).toEqual(read({}));
      });

      test('any changed byte of the body is a bad signature', () => {
        for (let i = 0; i < callback.raw.length; i += 7) {
          const raw = Buffer.from(callback.raw);
          raw[i] = (raw[i] ?? 0) ^ 1;
          expect(read({ raw })).toEqual({ kind: 'bad_signature' });
        }
        expect(read({ raw: Buffer.alloc(0) })).toEqual({ kind: 'bad_signature' });
      });

      test('missing, cut, changed or foreign signatures are bad ones', () => {
        expect(read({ headers: {} })).toEqual({ kind: 'bad_signature' });
        for (const [header, value] of Object.entries(callback.headers)) {
          if (!header.startsWith('x-') || value === undefined) continue;
          for (const wrong of [undefined, '', value.slice(1), `${value}0`, '0'.repeat(128), 'ä']) {
            const headers = { ...callback.headers, [header]: wrong };
            expect(read({ headers })).toEqual({ kind: 'bad_signature' });
          }
        }
      });

      test('reading never throws, whatever comes in', () => {
        const now = new Date();
        for (const raw of ['', '{', 'null', '[1]', '\u0000\ufffd']) {
          expect(() => read({ raw: Buffer.from(raw) }, now)).not.toThrow();
        }
      });
    });
  });
}
