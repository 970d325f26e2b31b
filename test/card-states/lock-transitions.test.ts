import fc from 'fast-check';
import { newOperation } from '../../src/capabilities/cards/card-operation.js';
import { cardOperations } from '../../src/capabilities/cards/card-operation.js';
import { cards, statusByLocks } from '../../src/capabilities/cards/record.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { stateWith } from '../support/authorizations.js';
import { CARD, openCard } from '../support/card-record.js';
import { run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, NOW } from '../support/transfers.js';

const key = { tenantId: 'ten_a', card: CARD } as const;

const request = (type: 'lock' | 'unlock'): AnyMutation => ({
  kind: 'acceptCardState',
  tenantId: 'ten_a',
  operation: {
    ...newOperation({ tenant_id: 'ten_a', card_id: CARD, type, provider: 'sandbox-bank' }, NOW, ''),
    type,
  },
  claim: null,
  answer: () => ({ status: 201, body: '' }),
});

const step = fc.oneof(
  fc.constantFrom('lock' as const, 'unlock' as const),
  fc.constantFrom('confirm' as const, 'refuse' as const),
  fc.constantFrom('locked by issuer' as const, 'opened by issuer' as const),
  fc.constantFrom('operator locks' as const, 'operator lifts' as const, 'recheck' as const),
);

/** The mutation of a step; a confirmation is of the pending operation. */
function mutationOf(name: string, state: Snapshot, i: number): AnyMutation | null {
  const pending = state.records.get(cards, CARD)?.state_control.pending_operation_id;
  const at = new Date(NOW.getTime() + i);
  switch (name) {
    case 'lock':
    case 'unlock':
      return request(name);
    case 'confirm':
    case 'refuse': {
      if (!pending) return null;
      const fact =
        name === 'confirm'
          ? ({ ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: null } as const)
          : ({ ...byProvider, kind: 'rejected', code: 'operator' } as const);
      return { kind: 'applyCardStateFact', ...key, id: pending, fact };
    }
    case 'operator locks':
      return { kind: 'setOperatorLock', ...key, lock: { actor: 'ada', reason: 'fraud' } };
    case 'operator lifts':
      return { kind: 'setOperatorLock', ...key, lock: null };
    case 'recheck':
      return { kind: 'recheckState', ...key };
    default: {
      const kind = name === 'locked by issuer' ? 'locked' : 'open';
      return { kind: 'applyReportedState', ...key, state: { kind, changedBy: 'issuer' }, at };
    }
  }
}

test.each(['issuer', 'ours'] as const)(
  'for any sequence of changes by tenant, issuer and operators, nobody opens a card that another has locked (order: %s)',
  (state_sequence) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        let state = stateWith(openCard({ state_sequence }));
        let byIssuer = false;
        let byOperator = false;
        for (const [i, name] of steps.entries()) {
          const mutation = mutationOf(name, state, i);
          if (!mutation) continue;
          state = run(state, [[mutation]]).state;
          if (name === 'locked by issuer') byIssuer = true;
          if (name === 'opened by issuer') byIssuer = false;
          if (name === 'operator locks') byOperator = true;
          if (name === 'operator lifts') byOperator = false;
          const card = state.records.get(cards, CARD);
          if (!card) throw new Error('there is no card');
          if (byIssuer || byOperator) expect(card.status).toBe('locked');
          expect(card.status).toBe(statusByLocks(card));
          const open = state.records
            .all(cardOperations)
            .filter(isOpen)
            .map(({ _id }) => _id);
          const { pending_operation_id: pending } = card.state_control;
          expect(open).toEqual(pending === null ? [] : [pending]);
        }
      }),
      { numRuns: 300 },
    );
  },
);
