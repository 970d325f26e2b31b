import type { TokenChargeRequest } from '../../src/core/providers/payment-provider.js';
import {
  about,
  never,
  ordersFor,
  renewed,
  RETURN_URL,
  unknown,
  type Subject,
} from './payment-subject.js';

export function describeCharges(at: Subject): void {
  const { chargeOrder, left, eventOf } = ordersFor(at);
  const charge = (order: TokenChargeRequest) =>
    at.provider.confirmCharge({ ...order, handle: null }, never);
  const verify = (reference: string) =>
    at.provider.verifyCharge({ ...about(reference), isOnPage: false }, never);

  describe('a charge without the customer', () => {
    /** Charges that the provider delays, submitted together so that the suite waits once. */
    let later: TokenChargeRequest;
    let shuffled: TokenChargeRequest;
    let begun: string[];

    beforeAll(async () => {
      later = chargeOrder('later');
      shuffled = chargeOrder('outOfOrder');
      const { outOfOrder } = at.harness.charges;
      const delayed = outOfOrder === undefined ? [later] : [later, shuffled];
      begun = (await Promise.all(delayed.map(charge))).map(({ kind }) => kind);
    });

    test.each([1n, 100n, 99_999_999n, 500_000_000n])(
      'the amount %s arrives to the unit, less a fee, with the trace of the call',
      async (amountMinor) => {
        const order = chargeOrder('paid', amountMinor);
        const paid = {
          kind: 'succeeded',
          amountMinor,
          currency: 'NGN',
          feeMinor: expect.any(BigInt) as bigint,
          surchargeMinor: 0n,
          method: at.method,
          providerRequestId: expect.any(String) as string,
        };
        expect(await charge(order)).toEqual(paid);
        const found = await verify(order.reference);
        expect(found).toEqual(paid);
        if (found.kind === 'succeeded') expect(found.feeMinor).toBeLessThanOrEqual(amountMinor);
      },
    );

    test.each([
      ['declinedHard', 'hard'],
      ['declinedSoft', 'soft'],
    ] as const)(
      '%s is a conclusive refusal of this attempt, with our code',
      async (scenario, decline) => {
        const order = chargeOrder(scenario);
        const refused = { kind: 'declined', decline, code: at.harness.refusals[decline] };
        expect(await charge(order)).toMatchObject(refused);
        expect(await verify(order.reference)).toMatchObject(refused);
      },
    );

    test('after a soft decline another attempt, under another reference, may be paid', async () => {
      const order = chargeOrder('declinedSoftTwice');
      const kinds: string[] = [];
      for (const attempt of [1, 2, 3]) {
        const reference = attemptOf(order, attempt);
        kinds.push((await charge({ ...renewed(order), reference })).kind);
      }
      expect(kinds).toEqual(['declined', 'declined', 'succeeded']);
      expect(await verify(attemptOf(order, 1))).toMatchObject({ kind: 'declined' });
    });

    test('a payment is reported with its real amount, also if that differs from the request', async () => {
      const order = chargeOrder('anotherAmount');
      const answer = await charge(order);
      const found = await verify(order.reference);
      for (const state of answer.kind === 'succeeded' ? [answer, found] : [found]) {
        if (state.kind !== 'succeeded') throw new Error(`it is ${state.kind}`);
        expect(state.amountMinor).not.toBe(order.amountMinor);
      }
    });

    test('the outcome of a pending charge is reported by callback, and afterwards by verification', async () => {
      expect(begun[0]).toBe('pending');
      const [callback] = await at.harness.callbacksAbout(later.reference, 1);
      expect(eventOf(callback)).toMatchObject({
        name: at.harness.ways.events.paid,
        reference: later.reference,
        about: { subject: 'charge', state: { kind: 'succeeded', amountMinor: 300_000n } },
      });
      for (;;) {
        if ((await verify(later.reference)).kind === 'succeeded') break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });

    test('callbacks may come several times and out of order; repeats of one event have one key', async () => {
      if (at.harness.charges.outOfOrder === undefined) return;
      expect(begun[1]).toBe('pending');
      const callbacks = await at.harness.callbacksAbout(shuffled.reference, 4);
      const events = callbacks.map(eventOf);
      expect(events.map(({ name }) => name)).toEqual([
        'charge.paid',
        'charge.pending',
        'charge.paid',
        'charge.paid',
      ]);
      expect(new Set(events.map(({ dedupeKey }) => dedupeKey)).size).toBe(3);
      const state = { kind: 'pending', awaits: 'provider', redirect: null, lastDecline: null };
      expect(events[1]?.about).toEqual({ subject: 'charge', state });
    });

    test('a charge without an answer is unknown, and its reference shows if it was paid', async () => {
      const done = chargeOrder('withoutAnswer');
      expect(await charge(done)).toEqual(unknown);
      expect(await verify(done.reference)).toMatchObject({ kind: 'succeeded' });
      const lost = chargeOrder('lost');
      expect(await charge(lost)).toEqual(unknown);
      expect(await verify(lost.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('a charge with an error is unknown, a throttled one was not executed; both are not found, and paid when submitted again', async () => {
      for (const [scenario, kinds] of [
        ['failingFirst', ['unknown', 'unknown', 'unknown']],
        ['throttledFirst', ['throttled']],
      ] as const) {
        const order = chargeOrder(scenario);
        for (const kind of kinds) {
          const answer = await charge(renewed(order));
          expect(answer.kind).toBe(kind);
          if (answer.kind === 'throttled') expect(answer.retryAfterMs).toBeGreaterThan(0);
          expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
        }
        expect(await charge(renewed(order))).toMatchObject({ kind: 'succeeded' });
      }
    });

    test('a reference that was never used is not found, a pending one is pending', async () => {
      const order = chargeOrder('pending');
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      const pending = { kind: 'pending', awaits: 'provider' };
      expect(await charge(order)).toMatchObject(pending);
      expect(await verify(order.reference)).toMatchObject(pending);
    });

    test('a repeat at a provider that de-duplicates gets the first result or is a conflict, and another amount does not reject the first', async () => {
      if (at.provider.payments.charges.kind !== 'idempotent') return;
      const order = chargeOrder('paid');
      const first = await charge(order);
      const { repeats } = at.harness.ways;
      expect(await charge(renewed(order))).toEqual({
        ...(repeats === 'conflict' ? { kind: 'unknown', reason: 'conflict' } : first),
        providerRequestId: expect.any(String) as string,
      });
      const other = await charge({ ...order, amountMinor: 1n });
      expect(['unknown', 'succeeded']).toContain(other.kind);
      expect(await verify(order.reference)).toMatchObject({ amountMinor: 300_000n });
    });

    test('an older charge at a provider whose absence is conclusive after a time is unknown and has no effect', async () => {
      const { charges } = at.provider.payments;
      if (charges.kind !== 'conclusive_after') return;
      const requestedAt = new Date(Date.now() - charges.ms);
      const order = { ...chargeOrder('paid'), requestedAt };
      expect(await charge(order)).toMatchObject({ kind: 'unknown', reason: 'too_old' });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
    });
  });

  test('a charge that its customer has to confirm leads to a page, and ends by what the customer does there', async () => {
    const order = { ...chargeOrder('redirected'), returnUrl: RETURN_URL };
    const asked = await charge(order);
    if (asked.kind !== 'pending' || asked.redirect === null) throw new Error(`it is ${asked.kind}`);
    expect(await verify(order.reference)).toMatchObject({ kind: 'pending', awaits: 'customer' });
    await at.harness.act(asked.redirect, 'pay');
    expect(await verify(order.reference)).toMatchObject({
      kind: 'succeeded',
      amountMinor: order.amountMinor,
    });
  });

  describe('revoking a saved method', () => {
    test('a revoked method can never be charged again', async () => {
      const { code: method } = await left();
      for (const kind of ['revoked', at.harness.ways.revokedAgain]) {
        expect(await at.provider.revokeMethod({ code: method }, never)).toMatchObject({ kind });
      }
      const { revoked } = at.harness.ways;
      expect(await charge({ ...chargeOrder('paid'), method })).toMatchObject(revoked);
    });

    test('an unknown method is not found, and cannot be charged', async () => {
      const method = 'authz_nowhere';
      expect(await at.provider.revokeMethod({ code: method }, never)).toMatchObject({
        kind: 'not_found',
      });
      const { noMethod } = at.harness.ways;
      expect(await charge({ ...chargeOrder('paid'), method })).toMatchObject(noMethod);
    });
  });
}

/** The reference of another attempt at the same charge. */
const attemptOf = ({ reference }: TokenChargeRequest, attempt: number): string =>
  reference.replace(/-\d+$/, `-${attempt}`);
