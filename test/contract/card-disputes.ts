import type { CardDisputeRequest } from '../../src/core/providers/card-issuer.js';
import { newId } from '../../src/shared/ids.js';
import {
  about,
  never,
  ordersFor,
  renewed,
  unknown,
  type DisputeScenario,
  type Subject,
} from './card-subject.js';

const AMOUNT = 12_345n;

/** The contract of issuers that take disputes of payments. */
export function describeDisputes(at: Subject): void {
  const { read } = ordersFor(at);
  const missing = async () => Promise.reject(new Error('the issuer takes no disputes'));
  const submit = async (order: CardDisputeRequest) =>
    at.issuer.submitDispute?.(order, never) ?? missing();
  const find = async (reference: string) =>
    at.issuer.findDispute?.(about(reference), never) ?? missing();
  const withdraw = async (reference: string) =>
    at.issuer.withdrawDispute?.(about(reference), never) ?? missing();

  /** A dispute of a new payment. */
  async function orderFor(scenario: DisputeScenario): Promise<CardDisputeRequest> {
    const request = read(await at.harness.authorizationRequest(at.card, Number(AMOUNT)));
    if (request.kind !== 'authorization') throw new Error('no request');
    return {
      reference: newId('cardOperation'),
      clientReference: at.harness.disputes[scenario],
      card: at.card,
      token: request.request.token,
      amountMinor: AMOUNT,
      currency: 'NGN',
      reason: 'fraud',
      explanation: 'The cardholder did not pay.',
      requestedAt: new Date(),
    };
  }

  describe('disputing a payment', () => {
    test('a dispute is accepted, found by our reference with everything that was reported, and withdrawn once', async () => {
      const order = await orderFor('accepted');
      expect(await submit(order)).toMatchObject({ kind: 'submitted' });
      const messageId = expect.any(String) as string;
      const submitted = { at: expect.any(Date) as Date, state: { kind: 'submitted', messageId } };
      expect(await find(order.reference)).toMatchObject({ kind: 'dispute', reports: [submitted] });
      expect(await withdraw(order.reference)).toMatchObject({ kind: 'withdrawn' });
      expect(await withdraw(order.reference)).toMatchObject({ kind: 'withdrawn' });
      const found = await find(order.reference);
      if (found.kind !== 'dispute') throw new Error(`the dispute is ${found.kind}`);
      expect(found.reports.map(({ state }) => state.kind)).toEqual(['submitted', 'withdrawn']);
      // The message has the id that the answer has.
      const [callback] = await at.harness.callbacksAbout(order.reference, 1);
      expect(callback && read(callback)).toMatchObject({
        event: {
          card: at.card,
          state: { subject: 'card_dispute', state: found.reports[1]?.state },
        },
      });
    });

    test('a refusal is conclusive; without an answer it is unknown, and found by its reference', async () => {
      const refusal = { kind: 'rejected', code: at.harness.refusals.dispute };
      const refused = await orderFor('refused');
      expect(await submit(refused)).toMatchObject(refusal);
      expect(await find(refused.reference)).toMatchObject({ reports: [{ state: refusal }] });
      const done = await orderFor('withoutAnswer');
      expect(await submit(done)).toEqual(unknown);
      expect(await find(done.reference)).toMatchObject({
        reports: [{ state: { kind: 'submitted' } }],
      });
      const lost = await orderFor('lost');
      expect(await submit(lost)).toEqual(unknown);
      expect(await find(lost.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('a dispute that is accepted later is pending, and reported by callback', async () => {
      const order = await orderFor('later');
      expect(await submit(order)).toMatchObject({ kind: 'pending' });
      expect(await find(order.reference)).toMatchObject({ kind: 'dispute', reports: [] });
      const [callback] = await at.harness.callbacksAbout(order.reference, 1);
      expect(callback && read(callback)).toMatchObject({
        event: {
          reference: order.reference,
          state: { subject: 'card_dispute', state: { kind: 'submitted' } },
        },
      });
    });

    test('a repeat at an issuer that de-duplicates is one dispute', async () => {
      if (at.issuer.cards.resendSafety.kind !== 'idempotent') return;
      const order = await orderFor('accepted');
      await submit(order);
      expect(await submit(renewed(order))).toMatchObject({ kind: 'submitted' });
      const found = await find(order.reference);
      expect(found.kind === 'dispute' && found.reports).toHaveLength(1);
    });

    test('a withdrawal that the issuer refuses is rejected', async () => {
      const order = await orderFor('notWithdrawable');
      await submit(order);
      expect(await withdraw(order.reference)).toMatchObject({ kind: 'rejected' });
    });

    test('that a dispute is not known refuses no withdrawal', async () => {
      expect(await withdraw(newId('cardOperation'))).toMatchObject({ kind: 'unknown' });
    });
  });
}
