import {
  cardAuthorizations,
  disputableOf,
  OVER_RETURNED,
} from '../../src/capabilities/card-authorizations/record.js';
import { cardDisputes } from '../../src/capabilities/card-disputes/record.js';
import { cardOperations } from '../../src/capabilities/cards/card-operation.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import type { InstructionFact } from '../../src/core/instructions/fact.js';
import { authorizationFactMutation, keyOf, stateWith } from '../support/authorizations.js';
import {
  CLEARED,
  dispute,
  disputed,
  outcome,
  reports,
  said,
  seen,
} from '../support/card-disputes.js';
import { openCard } from '../support/card-record.js';
import { run } from '../support/decisions.js';
import { byProvider } from '../support/transfers.js';

describe('a dispute of a card payment', () => {
  test('gives to the last payer first, and takes back from the card, then the wallet, then as a debt', () => {
    const { state, id } = disputed();
    expect(seen(state, id)).toMatchObject({ card: 0n, available: 0n, owed: 500n });
    const credited = run(state, [[reports(id, said('credited', { minor: 800n }))]]).state;
    // 500 of it pay the debt, and 300 are the wallet's, which had paid 500.
    expect(seen(credited, id)).toMatchObject({ card: 0n, available: 300n, owed: 0n });
    const lost = run(credited, [[reports(id, said('lost'))]]).state;
    expect(seen(lost, id)).toMatchObject({ card: 0n, available: 0n, owed: 500n });
    const attention = lost.records.get(cardAuthorizations, keyOf('auth_1').id)?.attention;
    expect(attention?.reason).toContain('owes');
  });

  test('emits an event for each state and each change of the provisional credit, and none for a repeat', () => {
    const { state, id, operation } = disputed();
    const succeeded = { ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: null };
    const steps = [
      [outcome(id, operation, succeeded as InstructionFact)],
      [reports(id, said('submitted'))],
      [reports(id, said('credited', { minor: CLEARED }))],
      [reports(id, said('credited', { minor: CLEARED }))],
      [reports(id, said('won', { minor: CLEARED }))],
    ];
    const { commits, state: after } = run(state, steps);
    expect(commits.flatMap(({ events }) => events.map(({ name }) => name))).toEqual([
      'card.dispute.opened',
      'card.dispute.credited',
      'card.dispute.won',
    ]);
    expect(seen(after, id)).toMatchObject({ status: 'won', credited: CLEARED });
  });

  test('is refused for more than is left of the payment, and for a payment that has taken nothing', () => {
    const { state } = disputed(4_000n);
    const paid = state.records.get(cardAuthorizations, keyOf('auth_1').id);
    expect(paid && disputableOf(paid)).toBe(2_000n);
    const more = dispute(state, 2_001n).outcomes.at(-1);
    expect(JSON.stringify(more, bigints)).toContain('amount_minor');
    const rest = dispute(state, null);
    expect(rest.state.records.get(cardDisputes, rest.id)?.amount_minor).toBe(2_000n);
    expect(JSON.stringify(dispute(rest.state, null).outcomes.at(-1), bigints)).toContain(
      'Nothing of the payment is left',
    );
  });

  test('that the issuer refuses is failed, and its payment can be disputed again', () => {
    const { state, id, operation } = disputed();
    const refused = { ...byProvider, kind: 'rejected', code: 'dispute_refused' } as const;
    const { state: after } = run(state, [[outcome(id, operation, refused)]]);
    expect(seen(after, id)).toMatchObject({ status: 'failed', credited: 0n });
    expect(after.records.get(cardOperations, operation)?.status).toBe('failed');
    const again = dispute(after, null);
    expect(again.state.records.get(cardDisputes, again.id)?.amount_minor).toBe(CLEARED);
    // The issuer has it after all: it is accepted, and its operation is completed.
    const late = run(after, [[reports(id, said('submitted'))]]).state;
    expect(seen(late, id).status).toBe('open');
    expect(late.records.get(cardOperations, operation)?.status).toBe('completed');
  });

  test('that an operator ends by force is monitored until the issuer itself refuses it', () => {
    const paid = run(stateWith(openCard({ available_minor: CLEARED })), [
      [authorizationFactMutation('cleared', { minor: CLEARED, at: 1 })],
    ]).state;
    const { state, id, operation } = dispute(paid, null, 1);
    const byOperator = {
      ...byProvider,
      via: 'operator',
      kind: 'rejected',
      code: 'operator',
    } as const;
    const ended = run(state, [[outcome(id, operation, byOperator)]]).state;
    const stored = ended.records.get(cardOperations, operation);
    expect(stored).toMatchObject({ status: 'failed', monitor_until: expect.any(Date) as Date });
    // The poll finds the dispute, about which nothing was reported.
    const polled = run(ended, [[reports(id)]]).state;
    expect(polled.records.get(cardOperations, operation)).toEqual(stored);
    const refused = run(polled, [[reports(id, said('refused'))]]).state;
    expect(refused.records.get(cardOperations, operation)?.monitor_until).toBeNull();
  });

  test('of a payment that is returned by other means too calls an operator', () => {
    const over = (state: Snapshot) =>
      state.records.get(cardAuthorizations, keyOf('auth_1').id)?.attention?.reason;
    for (const kind of ['refunded', 'reversed'] as const) {
      const { state, id } = disputed();
      const won = run(state, [[reports(id, said('won', { minor: CLEARED }))]]).state;
      expect(over(won)).not.toBe(OVER_RETURNED);
      const returned = authorizationFactMutation(kind, { minor: CLEARED, at: 5 });
      expect(over(run(won, [[returned]]).state)).toBe(OVER_RETURNED);
    }
    const first = disputed();
    const refused = { ...byProvider, kind: 'rejected', code: 'operator' } as const;
    const ended = run(first.state, [[outcome(first.id, first.operation, refused)]]).state;
    const second = dispute(ended, null);
    expect(over(second.state)).not.toBe(OVER_RETURNED);
    const reopened = run(second.state, [[reports(first.id, said('submitted'))]]).state;
    expect(over(reopened)).toBe(OVER_RETURNED);
  });

  test('that is lost returns nothing: a refund of the merchant after it is in order', () => {
    for (const decision of ['lost', 'withdrawn'] as const) {
      const { state, id } = disputed();
      const ended = run(state, [
        [reports(id, said('credited', { minor: CLEARED }))],
        [reports(id, said(decision, { at: 1 }))],
      ]).state;
      const { attention } = ended.records.get(cardAuthorizations, keyOf('auth_1').id) ?? {};
      const refunded = authorizationFactMutation('refunded', { minor: CLEARED, at: 5 });
      const after = run(ended, [[refunded]]).state;
      const payment = after.records.get(cardAuthorizations, keyOf('auth_1').id);
      expect(payment).toMatchObject({ refunded_minor: CLEARED, attention });
      expect(payment && disputableOf(payment)).toBe(0n);
      // The issuer says after that it is won: the payers have the money twice.
      const both = run(after, [[reports(id, said('won', { minor: CLEARED, at: 9 }))]]).state;
      const doubtful = both.records.get(cardAuthorizations, keyOf('auth_1').id);
      expect(doubtful?.attention?.reason).toBe(OVER_RETURNED);
    }
  });

  test('whose credit is taken back before it is reported calls an operator until the report comes', () => {
    const { state, id, operation } = disputed();
    const attentionOf = (after: Snapshot) =>
      after.records.get(cardOperations, operation)?.attention?.reason ?? null;
    const back = said('credit_reversed', { minor: 700n, at: 2 });
    const early = run(state, [[reports(id, said('submitted'))], [reports(id, back)]]).state;
    expect(attentionOf(early)).toContain('takes back more');
    expect(seen(early, id)).toMatchObject({ status: 'open', credited: 0n });
    const less = run(early, [[reports(id, said('credited', { minor: 600n, at: 1 }))]]).state;
    expect(attentionOf(less)).toBe(attentionOf(early));
    const more = said('credited', { minor: 500n, at: 1, key: 'more' });
    const after = run(less, [[reports(id, more)]]).state;
    expect(attentionOf(after)).toBeNull();
    expect(seen(after, id)).toMatchObject({ status: 'open', credited: 400n });
  });

  test('that is refused before it is accepted calls nobody', () => {
    const { state, id, operation } = disputed();
    const told = [said('submitted', { at: 2 }), said('refused', { at: 1 })];
    const after = run(state, [[reports(id, ...told)]]).state;
    expect(seen(after, id).status).toBe('open');
    expect(after.records.get(cardOperations, operation)?.attention).toBeNull();
  });

  test('that is decided in two ways, refused after it was accepted, or credited beyond its amount or its end, calls an operator', () => {
    for (const told of [
      [said('submitted', { at: 1 }), said('refused', { at: 2 })],
      [said('refused', { at: 2 }), said('submitted', { at: 1 })],
      [said('won', { minor: 100n, at: 1 }), said('credited', { minor: 100n, at: 2 })],
      [said('won', { minor: 100n, at: 1 }), said('credit_reversed', { minor: 100n, at: 2 })],
      [said('lost', { at: 1 }), said('credited', { minor: 100n, at: 2 })],
      [said('won', { minor: CLEARED, at: 1 }), said('lost', { at: 2 })],
      [said('credited', { minor: CLEARED + 1n })],
      [said('credited', { minor: 99n }), said('credit_reversed', { minor: 100n, at: 1 })],
    ]) {
      const { state, id, operation } = disputed();
      const { state: after } = run(
        state,
        told.map((fact) => [reports(id, fact)]),
      );
      expect(after.records.get(cardOperations, operation)?.attention).not.toBeNull();
    }
  });

  describe('that is cancelled', () => {
    const open = () => {
      const { state, id } = disputed();
      return { id, ...run(state, [[reports(id, said('submitted'))]]) };
    };
    const cancel = (state: Snapshot, id: string) => {
      const { state: after } = run(state, [[{ kind: 'cancelCardDispute', tenantId: 'ten_a', id }]]);
      const withdrawal = after.records.get(cardDisputes, id)?.withdrawal_id ?? '';
      return { state: after, withdrawal };
    };

    test('is withdrawn on the issuer’s proof, once, and gives its provisional credit back', () => {
      const { state, id } = open();
      const credited = run(state, [[reports(id, said('credited', { minor: CLEARED }))]]).state;
      const { state: asked, withdrawal } = cancel(credited, id);
      expect(cancel(asked, id).withdrawal).toBe(withdrawal);
      expect(seen(asked, id).status).toBe('open');
      const proof = { ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: null };
      const { state: after } = run(asked, [
        [outcome(id, withdrawal, proof as InstructionFact)],
        [reports(id, said('withdrawn', { at: 1 }))],
      ]);
      expect(seen(after, id)).toMatchObject({ status: 'cancelled', credited: 0n, owed: 500n });
      expect(after.records.get(cardDisputes, id)?.cancellation).toBeNull();
      expect(after.records.get(cardOperations, withdrawal)?.status).toBe('completed');
    });

    test('goes on if the issuer refuses, or has decided it meanwhile', () => {
      const { state, id } = open();
      const { state: asked, withdrawal } = cancel(state, id);
      const refused = { ...byProvider, kind: 'rejected', code: 'not_withdrawable' } as const;
      const { state: goesOn, commits } = run(asked, [[outcome(id, withdrawal, refused)]]);
      expect(commits.flatMap(({ events }) => events.map(({ name }) => name))).toEqual([
        'card.dispute.cancellation_refused',
      ]);
      expect(goesOn.records.get(cardDisputes, id)).toMatchObject({
        status: 'open',
        cancellation: 'refused',
      });
      const won = run(asked, [[reports(id, said('won', { minor: CLEARED }))]]).state;
      expect(won.records.get(cardDisputes, id)).toMatchObject({
        status: 'won',
        cancellation: 'refused',
      });
      expect(won.records.get(cardOperations, withdrawal)).toMatchObject({
        status: 'failed',
        failure: { code: 'already_decided' },
      });
    });
  });
});

const bigints = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : value;
