import { newId } from '../../src/shared/ids.js';
import type {
  BillCustomer,
  BillProvider,
  BillRequest,
  BillVerifyAnswer,
} from '../../src/core/providers/bill-provider.js';
import type { DeliveredCallback } from './transfer-provider.js';

/** Scenarios that a customer selects. A provider's own test customers are mapped to these. */
export type BillScenario =
  | 'paid'
  | 'paidWithToken'
  | 'refused'
  | 'paidLaterByCallback'
  | 'paidWithoutAnswer'
  | 'lostWithoutAnswer'
  | 'throttledFirst'
  | 'unknownCustomer'
  | 'validationWithoutAnswer';

export type BillProviderHarness = {
  /** With a time limit of a second or less for each call. */
  provider: BillProvider;
  /** The same provider at an address without a server. */
  unreachable: BillProvider;
  customers: Record<BillScenario, BillCustomer>;
  /** An amount that every item of the customers takes. */
  amountMinor: bigint;
  /** Our code for the refusal of the `refused` customer. */
  refusalCode: string;
  /** The first callback about a bill, as it came in over HTTP. */
  callbackAbout(reference: string): Promise<DeliveredCallback>;
  close(): Promise<void>;
};

/** The contract of every bill provider. Runs against the real provider, or its sandbox, over HTTP. */
export function describeBillProvider(
  name: string,
  setup: () => Promise<BillProviderHarness>,
): void {
  describe(`bill provider ${name}`, () => {
    let harness: BillProviderHarness;
    let provider: BillProvider;

    beforeAll(async () => {
      harness = await setup();
      provider = harness.provider;
    });
    afterAll(() => harness.close());

    const never = new AbortController().signal;
    const billOf = (scenario: BillScenario): BillRequest => ({
      ...harness.customers[scenario],
      reference: newId('billPayment'),
      clientReference: 'BILL/2026-001',
      amountMinor: harness.amountMinor,
      currency: 'NGN',
      requestedAt: new Date(),
    });
    const verify = (reference: string, handle: string | null = null) =>
      provider.verify({ reference, handle }, never);
    const verifyUntil = async (reference: string, kind: BillVerifyAnswer['kind']) => {
      for (;;) {
        const answer = await verify(reference);
        if (answer.kind === kind) return answer;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    test('the catalogue is consistent: each biller has a category of the list, and items with bounds', async () => {
      const categories = await provider.listCategories(never);
      const billers = await provider.listBillers(never);
      if (categories.kind !== 'categories' || billers.kind !== 'billers') {
        throw new Error('there is a catalogue');
      }
      const known = new Set(categories.categories.map(({ id }) => id));
      expect(billers.billers.filter(({ category }) => !known.has(category))).toEqual([]);
      for (const { id } of billers.billers) {
        const answer = await provider.listItems(id, never);
        const items = answer.kind === 'items' ? answer.items : [];
        expect(items.length).toBeGreaterThan(0);
        for (const { fixedMinor, minMinor, maxMinor } of items) {
          expect(minMinor > 0n && minMinor <= maxMinor).toBe(true);
          if (fixedMinor !== null) expect([minMinor, maxMinor]).toEqual([fixedMinor, fixedMinor]);
        }
      }
      expect(await provider.listItems('nobody', never)).toEqual({ kind: 'items', items: [] });
    });

    test('validation: a name, no such customer, or no answer', async () => {
      const validate = (scenario: BillScenario) =>
        provider.validate(harness.customers[scenario], never);
      expect(await validate('paid')).toEqual({
        kind: 'found',
        name: expect.stringMatching(/\S/) as string,
      });
      expect(await validate('unknownCustomer')).toEqual({ kind: 'not_found' });
      expect(await validate('validationWithoutAnswer')).toEqual({
        kind: 'no_answer',
        reason: 'timeout',
      });
    });

    test('a paid bill is reported with its amount, and with the token of a prepaid meter each time', async () => {
      const plain = billOf('paid');
      expect(await provider.submit(plain, never)).toMatchObject({
        kind: 'succeeded',
        amountMinor: harness.amountMinor,
        receipt: null,
        providerRequestId: expect.any(String) as string,
      });
      const metered = billOf('paidWithToken');
      const answer = await provider.submit(metered, never);
      expect(answer).toMatchObject({
        kind: 'succeeded',
        receipt: { token: expect.stringMatching(/\S/) as string },
      });
      expect(await verify(metered.reference)).toEqual({
        ...answer,
        providerRequestId: expect.any(String) as string,
      });
    });

    test('a conclusive refusal of a bill is reported with our code', async () => {
      const bill = billOf('refused');
      const refusal = { kind: 'rejected', code: harness.refusalCode };
      expect(await provider.submit(bill, never)).toMatchObject(refusal);
      expect(await verify(bill.reference)).toMatchObject(refusal);
    });

    test('the outcome of a pending bill is reported by callback, and afterwards by verification', async () => {
      const bill = billOf('paidLaterByCallback');
      expect(await provider.submit(bill, never)).toMatchObject({ kind: 'pending' });
      const { raw, headers } = await harness.callbackAbout(bill.reference);
      expect(provider.readMessage(raw, headers, new Date())).toMatchObject({
        kind: 'event',
        event: {
          reference: bill.reference,
          state: { kind: 'succeeded', amountMinor: harness.amountMinor },
          occurredAt: expect.any(Date) as Date,
        },
      });
      expect(await verifyUntil(bill.reference, 'succeeded')).toMatchObject({
        amountMinor: harness.amountMinor,
      });
    });

    test('a submit without an answer is unknown, and the bill is found by its reference', async () => {
      const bill = billOf('paidWithoutAnswer');
      expect(await provider.submit(bill, never)).toMatchObject({
        kind: 'unknown',
        reason: 'timeout',
      });
      expect(await verify(bill.reference)).toMatchObject({ kind: 'succeeded' });
    });

    test('a submit without an answer and without effect is unknown, and verified as not found', async () => {
      const bill = billOf('lostWithoutAnswer');
      expect(await provider.submit(bill, never)).toMatchObject({ kind: 'unknown' });
      expect(await verify(bill.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('a throttled submit was not executed, and is paid when it is submitted again', async () => {
      const bill = billOf('throttledFirst');
      expect(await provider.submit(bill, never)).toMatchObject({ kind: 'throttled' });
      expect(await verify(bill.reference)).toMatchObject({ kind: 'not_found' });
      const again = { ...bill, requestedAt: new Date() };
      expect(await provider.submit(again, never)).toMatchObject({ kind: 'succeeded' });
    });

    test('a repeat at a provider that de-duplicates gets the first answer, with the first token', async () => {
      if (provider.bills.resendSafety.kind !== 'idempotent') return;
      const bill = billOf('paidWithToken');
      const first = await provider.submit(bill, never);
      expect(await provider.submit({ ...bill, requestedAt: new Date() }, never)).toEqual({
        ...first,
        providerRequestId: expect.any(String) as string,
      });
    });

    test('the traits name a rate, and a proof that the port can give', () => {
      const { callsPerSecond, resendSafety } = provider.bills;
      expect(callsPerSecond).toBeGreaterThan(0);
      // The port has no cancellation that could decide.
      expect(resendSafety.kind).not.toBe('fence');
    });

    test('a handle that the provider does not know is no evidence that a bill was not paid', async () => {
      const bill = billOf('paid');
      await provider.submit(bill, never);
      const { kind } = await verify(bill.reference, 'handle_of_nobody');
      expect(['succeeded', 'unknown']).toContain(kind);
    });

    test('a call to an unreachable bill provider is unknown, never an error and never a refusal', async () => {
      const { unreachable } = harness;
      const bill = billOf('paid');
      const unknown = { kind: 'unknown', reason: 'connection' };
      const silence = { kind: 'no_answer', reason: 'connection' };
      expect(await unreachable.submit(bill, never)).toMatchObject(unknown);
      expect(
        await unreachable.verify({ reference: bill.reference, handle: null }, never),
      ).toMatchObject(unknown);
      expect(await unreachable.validate(harness.customers.paid, never)).toEqual(silence);
      expect(await unreachable.listBillers(never)).toEqual(silence);
      expect(await unreachable.listItems('nobody', never)).toEqual(silence);
    });

    test('a submit that was aborted before it was sent is never sent', async () => {
      const bill = billOf('paid');
      await provider.submit(bill, AbortSignal.abort());
      expect(await verify(bill.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('any changed byte of a callback is a bad signature, and reading never throws', async () => {
      const bill = billOf('paidLaterByCallback');
      await provider.submit(bill, never);
      const { raw, headers } = await harness.callbackAbout(bill.reference);
      for (let i = 0; i < raw.length; i += 7) {
        const changed = Buffer.from(raw);
        changed[i] = (changed[i] ?? 0) ^ 1;
        expect(provider.readMessage(changed, headers, new Date())).toEqual({
          kind: 'bad_signature',
        });
      }
      for (const text of ['', '{', 'null', '[1]']) {
        expect(() => provider.readMessage(Buffer.from(text), headers, new Date())).not.toThrow();
      }
    });
  });
}
