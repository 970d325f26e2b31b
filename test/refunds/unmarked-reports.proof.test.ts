import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { createRefundCalls } from '../../src/capabilities/refunds/provider-calls.js';
import { refundEventHandler } from '../../src/capabilities/refunds/provider-events.js';
import {
  deskRefundId,
  newRefund,
  refunds,
  type Refund,
} from '../../src/capabilities/refunds/record.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { newProviderEvent, type ProviderEvent } from '../../src/core/provider-events/event.js';
import type { Applied, NewFact } from '../../src/core/provider-events/handler.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { chargeReferences } from '../../src/core/providers/paystack/references.js';
import { newId } from '../../src/shared/ids.js';
import { createLog } from '../../src/shared/log.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import { banksFor, never, settingsFor, startFakeWithReceiver } from '../paystack/support.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { balances, run } from '../support/decisions.js';
import { eventually } from '../support/eventually.js';
import type { AnyMutation } from '../support/mutations.js';
import { emptySnapshot } from '../support/transfers.js';

const AMOUNT = 120_000n;
const START = 1_000_000n;

const isListOfRefunds = ({ method, path }: { method: string; path: string }) =>
  method === 'GET' && path.startsWith('/refund');

describe.each(['sample', 'named', 'noted'] as const)(
  'events of refunds in the form `%s`',
  (form) => {
    let running: Awaited<ReturnType<typeof startFakeWithReceiver>>;

    beforeAll(async () => {
      running = await startFakeWithReceiver();
      running.fake.setRefundForm(form);
    });
    afterAll(() => running.close());

    /** A paid charge here and at Paystack, with the handler of refund events and a store in memory. */
    async function given() {
      const { fake, receiver } = running;
      const settings = settingsFor(fake.url);
      const provider = createPaystackPayments(settings, banksFor(settings));
      const asked = pageCharge({ provider: 'paystack', amount_minor: 500_000n });
      const charge = transition(sent(asked), paid({ amountMinor: 500_000n, feeMinor: null })).next;
      const reference = `${charge._id}-1`;
      const theirs = chargeReferences.toTheirs(reference);
      await provider.openPage(
        {
          reference,
          clientReference: 'INV-118',
          amountMinor: 500_000n,
          currency: 'NGN',
          customer: { id: 'customer-1', email: 'payer@example.com', name: null },
          channel: { type: 'card' },
          returnUrl: null,
          requestedAt: new Date(),
        },
        never,
      );
      fake.pay(theirs);

      let state = emptySnapshot();
      state.records.set(charges, { ...charge, created_at: new Date() });
      state.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor: START });
      const commit = <Result>(mutation: AnyMutation): Result => {
        const decided = run(state, [[mutation]]);
        state = decided.state;
        return decided.outcomes[0] as Result;
      };
      const all = () => state.records.all(refunds);
      const chargeNow = () => state.records.get(charges, charge._id) as Charge;
      const notified: string[] = [];
      const noted: string[] = [];
      const starter = { notifyChangedSoon: ({ _id }: { _id: string }) => void notified.push(_id) };
      const of = { tenantId: 'ten_a', charge: charge._id };
      const store = {
        find: async (id: string) => state.records.get(refunds, id) ?? null,
        byProviderId: async (_charge: unknown, id: string) =>
          all().find(({ provider_refund_id: known }) => known === id) ?? null,
        openOf: async () => all().filter(isOpen),
        hasCompleted: async (_charge: unknown, amountMinor: bigint) =>
          all().some((each) => each.status === 'completed' && each.amount_minor === amountMinor),
        acknowledge: async () => undefined,
        applyFact: async ({ _id: id }: { _id: string }, fact: never) =>
          commit<never>({ kind: 'applyRefundFact', ...of, id, fact }),
        recordDeskRefund: async (_charge: unknown, made: { providerRefundId: string } & object) =>
          commit<{ result: never }>({
            kind: 'recordDeskRefund',
            id: deskRefundId('paystack', made.providerRefundId),
            ...of,
            ...made,
          } as never).result,
        refuseDeskRefund: async (_charge: unknown, id: string) =>
          commit<{ result: never }>({ kind: 'refuseDeskRefund', ...of, id }).result,
        noteUnnamedRefusal: async (
          _charge: unknown,
          refusal: { event: string; amountMinor: bigint },
        ) => {
          noted.push(refusal.event);
          commit<never>({
            kind: 'noteUnnamedRefusal',
            tenantId: 'ten_a',
            id: charge._id,
            ...refusal,
          });
        },
        forgetUnnamedRefusal: async (_charge: unknown, event: string) =>
          commit<never>({
            kind: 'forgetUnnamedRefusal',
            tenantId: 'ten_a',
            id: charge._id,
            event,
          }),
      };
      // The list may be behind the events: it has refunds of the desk that have not ended there.
      let isDeskPending = false;
      const findRefunds: typeof provider.findRefunds = async (...asked) => {
        const answer = await provider.findRefunds(...asked);
        if (answer.kind !== 'page' || !isDeskPending) return answer;
        const items = answer.items.map((each) =>
          each.marker === null ? { ...each, state: 'pending' as const } : each,
        );
        return { ...answer, items };
      };
      const providers = { payment: () => ({ ...provider, findRefunds }) };
      const providerCalls = createRefundCalls({
        refunds: {} as never,
        providers,
        log: createLog({ level: 'silent', name: 'test' }),
      });
      const handler = refundEventHandler({
        charges: { store: { find: async () => chargeNow() }, starter },
        refunds: { store: store as never, starter, providerCalls },
        providers,
      });
      const since = receiver.received.length;

      return {
        charge,
        theirs,
        fake,
        notified,
        noted,
        refunds: all,
        lists: () => fake.requests.filter(isListOfRefunds).length,
        chargeNow,
        listDeskAsPending: (is: boolean) => void (isDeskPending = is),
        available: () => state.wallets.get('ten_a')?.availableMinor,
        books: () => [...balances(state).values()].reduce((sum, minor) => sum + minor, 0n),
        /** A refund of ours, which the provider has accepted; its id there is known if `isKnown`. */
        async refund(amountMinor = AMOUNT, isKnown = true): Promise<Refund> {
          const made = newRefund(chargeNow(), {}, new Date());
          const order = { tenantId: 'ten_a', id: made._id, refund: made, amountMinor, claim: null };
          commit({ kind: 'acceptRefund', ...order });
          const answer = await provider.refund(
            {
              charge: { reference, handle: null },
              amountMinor,
              currency: 'NGN',
              marker: made._id,
              clientReference: made.reference,
              requestedAt: new Date(),
            },
            never,
          );
          if (answer.kind !== 'accepted') throw new Error(answer.kind);
          const found = state.records.get(refunds, made._id) as Refund;
          const submitted: Refund = {
            ...found,
            status: 'processing',
            submissions: 1,
            first_submitted_at: new Date(),
            provider_refund_id: isKnown ? answer.refund.id : null,
          };
          state.records.set(refunds, submitted);
          return submitted;
        },
        find: (id: string) => state.records.get(refunds, id),
        /** A refund at Paystack with a note of ours that no record here has. */
        refundWithLostNote: () =>
          provider.refund(
            {
              charge: { reference, handle: null },
              amountMinor: AMOUNT,
              currency: 'NGN',
              marker: newId('refund'),
              clientReference: 'lost',
              requestedAt: new Date(),
            },
            never,
          ),
        /** Applies the message number `nth` with this name since the start, once it has come, until it ends or `tries` are used up. */
        async apply(name: string, { tries = 15, nth = 0, pauseMs = 1_000 } = {}): Promise<Applied> {
          const got = await eventually(
            `the event ${name}`,
            async () =>
              receiver.received
                .slice(since)
                .filter(({ event, raw }) => event === name && String(raw).includes(theirs))[nth],
          );
          const reading = provider.readMessage(got.raw, got.headers, new Date());
          if (reading.kind !== 'event') throw new Error(`it is ${reading.kind}`);
          const facts: NewFact[] = handler.toFacts(reading.event);
          const stored = newProviderEvent(
            {
              dedupeKey: reading.event.dedupeKey,
              provider: 'paystack',
              port: 'payments',
              event: name,
              reading: 'event',
              facts: [],
              message: {},
              occurred_at: null,
            },
            new Date(),
          );
          let result: string | null = null;
          for (let attempt_count = 0; ; attempt_count += 1) {
            const event: ProviderEvent = { ...stored, attempt_count, result };
            const applied = await handler.apply({ ...facts[0], secret: null } as never, event);
            if (applied.kind === 'applied' || attempt_count + 1 >= tries) return applied;
            result = applied.reason;
            const pause = attempt_count === 0 ? 0 : pauseMs;
            await new Promise((resolve) => setTimeout(resolve, pause));
          }
        },
      };
    }

    test.each([true, false])(
      'complete our own refund and debit its tenant once, its id known here: %s',
      async (isKnown) => {
        const at = await given();
        const own = await at.refund(AMOUNT, isKnown);
        expect((await at.apply('refund.processed')).kind).toBe('applied');
        expect((await at.apply('refund.processed')).kind).toBe('applied');
        expect(at.refunds()).toHaveLength(1);
        expect(at.find(own._id)).toMatchObject({ status: 'completed', made_by: 'tenant' });
        expect([at.available(), at.chargeNow().refunded_minor]).toEqual([START - AMOUNT, AMOUNT]);
        expect(at.books()).toBe(0n);
      },
    );

    test.each([120_011n, 120_017n])(
      'return the money of our own refund that fails after it was made (%s: at once, listed late)',
      async (amount) => {
        const at = await given();
        const own = await at.refund(amount);
        expect((await at.apply('refund.processed')).kind).toBe('applied');
        expect((await at.apply('refund.failed')).kind).toBe('applied');
        expect(at.find(own._id)).toMatchObject({ status: 'failed' });
        expect([at.available(), at.chargeNow().refunded_minor]).toEqual([START, 0n]);
      },
    );

    test.each([120_013n, 120_016n])(
      'end our own refund that was not made (%s: at once, listed late)',
      async (amount) => {
        const at = await given();
        const own = await at.refund(amount);
        expect((await at.apply('refund.failed')).kind).toBe('applied');
        expect(at.find(own._id)).toMatchObject({ status: 'failed' });
        expect(at.available()).toBe(START);
      },
    );

    test('wake the workflow of an open refund', async () => {
      const at = await given();
      const own = await at.refund();
      await at.apply('refund.processing', { tries: 1 });
      expect(at.notified).toContain(own._id);
    });

    test('record a refund of the desk once, and return its money if it fails', async () => {
      const at = await given();
      at.fake.refundAtDesk(at.theirs, 120_011);
      expect((await at.apply('refund.processed')).kind).toBe('applied');
      expect((await at.apply('refund.processed')).kind).toBe('applied');
      expect((await at.apply('refund.failed')).kind).toBe('applied');
      expect(at.refunds().length).toBeLessThan(2);
      expect([at.available(), at.chargeNow().refunded_minor]).toEqual([START, 0n]);
    });

    test('debit a refund of the desk that is listed after ours of the same amount', async () => {
      const at = await given();
      await at.refund(120_014n);
      expect((await at.apply('refund.processed')).kind).toBe('applied');
      at.fake.refundAtDesk(at.theirs, 120_014);
      // Paystack lists it three seconds late.
      const result = await at.apply('refund.processed', { nth: 1, pauseMs: 4_000 });
      expect(result.kind).toBe('applied');
      expect(at.refunds().map(({ made_by: by }) => by)).toEqual(['tenant', 'provider']);
      expect(at.available()).toBe(START - 2n * 120_014n);
    });

    test('wait for a refund of the desk that the list has as pending beside ours of the same amount', async () => {
      const at = await given();
      await at.refund();
      expect((await at.apply('refund.processed')).kind).toBe('applied');
      at.listDeskAsPending(true);
      at.fake.refundAtDesk(at.theirs, Number(AMOUNT));
      const early = await at.apply('refund.processed', { nth: 1, tries: 4 });
      expect(early).toMatchObject({ kind: 'unknown', ends: 'failed' });
      at.listDeskAsPending(false);
      expect((await at.apply('refund.processed', { nth: 1 })).kind).toBe('applied');
      expect(at.available()).toBe(START - 2n * AMOUNT);
    });

    test('note the failure of a refund of the desk that is listed after ours of the same amount', async () => {
      const at = await given();
      await at.refund(120_016n);
      expect((await at.apply('refund.failed')).kind).toBe('applied');
      at.fake.refundAtDesk(at.theirs, 120_016);
      await at.apply('refund.failed', { nth: 1, pauseMs: 4_000 });
      expect(at.chargeNow().refused_refunds).toHaveLength(1);
      expect(at.available()).toBe(START);
    });

    test('record a refund of the desk behind one of its amount that cannot be applied', async () => {
      const at = await given();
      at.fake.refundAtDesk(at.theirs, Number(AMOUNT));
      await at.refundWithLostNote();
      // Both are processed before the list is read.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const result = await at.apply('refund.processed', { tries: 3 });
      expect(result.kind).toBe(form === 'sample' ? 'unknown' : 'applied');
      expect(at.refunds()).toMatchObject([{ made_by: 'provider', status: 'completed' }]);
      expect(at.available()).toBe(START - AMOUNT);
    });

    test('take back the note of a failure that the list explains later', async () => {
      const at = await given();
      at.fake.refundAtDesk(at.theirs, 120_016);
      await at.apply('refund.failed');
      expect(at.noted.length).toBeGreaterThan(0);
      expect(at.chargeNow().unnamed_refusals).toEqual([]);
    });

    test('note an unnamed failure once, however often Paystack repeats its message', async () => {
      const at = await given();
      const transaction_reference = at.theirs;
      const data = { status: 'failed', amount: '120000', currency: 'NGN', domain: 'test' };
      for (const nth of [0, 1]) {
        at.fake.send('refund.failed', { ...data, transaction_reference });
        await at.apply('refund.failed', { tries: 2, nth });
      }
      expect(at.chargeNow().unnamed_refusals).toHaveLength(1);
    });

    test('read no list in the process that receives them', async () => {
      const at = await given();
      at.fake.refundAtDesk(at.theirs, Number(AMOUNT));
      const before = at.lists();
      expect(await at.apply('refund.processed', { tries: 1 })).toMatchObject({ kind: 'unknown' });
      expect(at.lists()).toBe(before);
      expect(at.refunds()).toEqual([]);
    });

    test('book nothing of the refund of a lost dispute', async () => {
      const at = await given();
      const dispute = at.fake.openDispute(at.theirs, Number(AMOUNT));
      at.fake.resolveDispute(dispute?.id ?? 0, 'merchant-accepted');
      expect((await at.apply('refund.processed')).kind).toBe('applied');
      expect(at.refunds()).toEqual([]);
      expect(at.available()).toBe(START);
    });
  },
);
