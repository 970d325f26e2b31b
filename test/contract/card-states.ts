import type { CardStateRequest } from '../../src/core/providers/card-issuer.js';
import {
  never,
  ordersFor,
  unknown,
  type IssuerTraits,
  type StateScenario,
  type Subject,
} from './card-subject.js';

/** With `stateSequence: 'ours'` the issuer ignores versions, so the state is what counts. */
export function describeCardStates(at: Subject, { balances, stateSequence }: IssuerTraits): void {
  const ordered = stateSequence === 'issuer';
  const orders = ordersFor(at);
  const { fundingOrder, stateOrder } = orders;

  describe('the state of a card', () => {
    let own: string;
    const set = (scenario: StateScenario, state: CardStateRequest['state'], version: number) =>
      at.issuer.setState(stateOrder(scenario, state, version, own), never);
    const versioned = (state: string, version: number) => (ordered ? [state, version] : [state]);
    const current = async () => {
      const answer = await at.issuer.readState(own, never);
      return answer.kind === 'state' ? versioned(answer.state, answer.version) : answer;
    };

    beforeEach(async () => {
      own = await orders.newCard();
    });

    test('a new card is open, can be locked and unlocked, and every request may be repeated', async () => {
      expect(await current()).toEqual(versioned('open', 0));
      for (const [state, version] of [
        ['locked', 1],
        ['locked', 1],
        ['open', 2],
        ['open', 5],
      ] as const) {
        expect(await set('set', state, version)).toMatchObject({ kind: 'set' });
        expect(await current()).toEqual(versioned(state, version));
      }
    });

    test('the state has the time of its latest change', async () => {
      const changedAt = async () => {
        const answer = await at.issuer.readState(own, never);
        return answer.kind === 'state' ? (answer.changedAt?.getTime() ?? 0) : 0;
      };
      await set('set', 'locked', 1);
      const first = await changedAt();
      expect(await changedAt()).toBe(first);
      await set('set', 'open', 2);
      expect(await changedAt()).toBeGreaterThanOrEqual(first);
    });

    if (ordered) {
      test('an older version never overwrites a newer one', async () => {
        await set('set', 'locked', 7);
        for (const version of [6, 1]) {
          expect(await set('set', 'open', version)).toMatchObject({
            kind: 'rejected',
            code: 'superseded',
          });
        }
        expect(await set('set', 'open', 7)).toMatchObject({ kind: 'rejected' });
        expect(await current()).toEqual(['locked', 7]);
      });
    } else {
      test('the latest request is executed, whatever its version', async () => {
        await set('set', 'locked', 7);
        for (const [state, version] of [
          ['open', 6],
          ['locked', 1],
          ['open', 7],
        ] as const) {
          expect(await set('set', state, version)).toMatchObject({ kind: 'set' });
          expect(await current()).toEqual([state]);
        }
      });
    }

    test('a closed card stays closed, and is never funded', async () => {
      expect(await set('set', 'closed', 1)).toMatchObject({ kind: 'set' });
      expect(await set('set', 'open', 2)).toMatchObject({ kind: 'rejected', code: 'card_closed' });
      expect(await set('set', 'closed', 2)).toMatchObject({ kind: 'set' });
      const order = { ...fundingOrder('funded'), card: own };
      const refused = { kind: 'rejected', code: 'card_closed' };
      expect(await at.issuer.fund(order, never)).toMatchObject(
        balances === 'issuer' ? refused : { kind: 'unknown' },
      );
    });

    test.each([
      ['refusedTwice', 2, () => ({ kind: 'rejected', code: at.harness.refusals.state })],
      ['lostOnce', 1, () => unknown],
      ['failingFirst', 3, () => ({ kind: 'unknown', reason: 'server_error' })],
    ] as const)('%s: nothing is set %d times, then it is', async (scenario, times, answer) => {
      for (let i = 0; i < times; i += 1) {
        expect(await set(scenario, 'locked', 1)).toMatchObject(answer());
        expect(await current()).toEqual(versioned('open', 0));
      }
      expect(await set(scenario, 'locked', 1)).toMatchObject({ kind: 'set' });
      expect(await current()).toEqual(versioned('locked', 1));
    });

    test('a state change without an answer is unknown, and the card’s state shows that it was executed', async () => {
      expect(await set('withoutAnswer', 'locked', 1)).toEqual(unknown);
      expect(await current()).toEqual(versioned('locked', 1));
    });

    test('a state change of an unknown card is refused', async () => {
      own = 'card_nowhere';
      expect(await set('set', 'locked', 1)).toMatchObject({
        kind: 'rejected',
        code: 'card_not_found',
      });
    });
  });
}
