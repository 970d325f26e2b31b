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
  fc.constantFrom('confirm' as const, 'refuse' as const, 'refuse as locked' as const),
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
    case 'refuse':
    case 'refuse as locked': {
      if (!pending) return null;
      const code = name === 'refuse' ? 'operator' : 'locked_by_issuer';
      const fact =
        name === 'confirm'
          ? ({ ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: null } as const)
          : ({ ...byProvider, kind: 'rejected', code } as const);
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

test.each(['issuer', 'ours'] as const)(
  'reports and answers about what an issuer did lead to its newest state, in any order and however often each comes (order: %s)',
  (state_sequence) => {
    const among = fc.constantFrom('lock', 'unlock', 'confirm', 'refuse', 'refuse as locked');
    const arrival = fc.nat({ max: 5 }).map((i) => ({ i }));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('open' as const, 'locked' as const), {
          minLength: 6,
          maxLength: 6,
        }),
        fc.array(fc.oneof(arrival, among), { maxLength: 25 }),
        (history, steps) => {
          let state = stateWith(openCard({ state_sequence }));
          let newest = -1;
          for (const [n, one] of steps.entries()) {
            if (typeof one === 'string') {
              const mutation = mutationOf(one, state, n);
              if (mutation) state = run(state, [[mutation]]).state;
            } else {
              const { i } = one;
              const kind = history[i] ?? 'open';
              const at = new Date(NOW.getTime() + i);
              const reported = { state: { kind, changedBy: 'issuer' }, at } as const;
              const mutation = { kind: 'applyReportedState', ...key, ...reported } as const;
              state = run(state, [[mutation]]).state;
              newest = Math.max(newest, i);
            }
            const locks = state.records.get(cards, CARD)?.locks;
            expect(locks?.issuer != null).toBe(history[newest] === 'locked');
          }
        },
      ),
      { numRuns: 300 },
    );
  },
);

test('an answer about a card that its tenant has changed since the question changes nothing', () => {
  let state = stateWith(openCard());
  for (const name of ['lock', 'confirm', 'unlock', 'confirm']) {
    const mutation = mutationOf(name, state, 0);
    if (mutation) state = run(state, [[mutation]]).state;
  }
  const seen = { state: { kind: 'locked', changedBy: 'us' }, at: NOW } as const;
  const answer = (sequence: number) =>
    run(state, [[{ kind: 'applyReportedState', ...key, ...seen, sequence }]]);
  expect(answer(1).outcomes).toMatchObject([{ verdict: 'stale' }]);
  expect(answer(1).state.records.get(cards, CARD)).toEqual(state.records.get(cards, CARD));
  expect(answer(2).outcomes).toMatchObject([{ verdict: 'applied' }]);
});

test('a card is opened at the issuer again if it lifts its lock after an operator has lifted another', () => {
  const reported = (kind: 'open' | 'locked', ms: number): AnyMutation => ({
    kind: 'applyReportedState',
    ...key,
    state: { kind, changedBy: 'issuer' },
    at: new Date(NOW.getTime() + ms),
  });
  const step = (name: string) => (state: Snapshot) => mutationOf(name, state, 0);
  const steps = [
    step('operator locks'),
    step('confirm'),
    () => reported('locked', 1),
    step('operator lifts'),
    step('refuse as locked'),
    () => reported('open', 2),
    step('confirm'),
  ];
  let state = stateWith(openCard());
  for (const next of steps) {
    const mutation = next(state);
    if (mutation) state = run(state, [[mutation]]).state;
  }
  expect(state.records.get(cards, CARD)?.status).toBe('active');
});

test('a tenant’s lock that was not set beneath the issuer’s lock is set at the issuer once that ends', () => {
  const reported = (kind: 'open' | 'locked', ms: number) => (): AnyMutation => ({
    kind: 'applyReportedState',
    ...key,
    state: { kind, changedBy: 'issuer' },
    at: new Date(NOW.getTime() + ms),
  });
  const named = (name: string) => (state: Snapshot) => mutationOf(name, state, 0);
  let state = stateWith(openCard());
  // The unlock replaces the open lock, and is refused: the tenant's lock stands, and the issuer has never got it.
  for (const next of [
    reported('locked', 1),
    named('lock'),
    named('unlock'),
    named('refuse as locked'),
    reported('open', 2),
  ]) {
    const mutation = next(state);
    if (mutation) state = run(state, [[mutation]]).state;
  }
  const card = state.records.get(cards, CARD);
  const { desired, pending_operation_id: pending } = card?.state_control ?? {};
  const set = state.records.all(cardOperations).find(({ _id }) => _id === pending);
  expect(card).toMatchObject({ status: 'locked', locks: { issuer: null } });
  expect([desired, set?.type]).toEqual(['locked', 'state_reset']);
});

test('each party that locks a locked card has an event with all that lock it; one that lifts its lock beneath others has none', () => {
  const steps = [
    'lock',
    'confirm',
    'locked by issuer',
    'locked by issuer',
    'operator locks',
    'opened by issuer',
    'confirm',
    'operator lifts',
    'confirm',
    'unlock',
    'lock',
    'unlock',
    'confirm',
  ];
  let state = stateWith(openCard());
  const events: unknown[] = [];
  for (const [i, name] of steps.entries()) {
    const mutation = mutationOf(name, state, i);
    if (!mutation) continue;
    const { state: next, commits } = run(state, [[mutation]]);
    state = next;
    for (const { name: event, data } of commits.flatMap(({ events: all }) => all)) {
      const { locked_by } = data as { locked_by?: string[] };
      if (locked_by) events.push([event, ...locked_by]);
    }
  }
  expect(events).toEqual([
    ['card.locked', 'tenant'],
    ['card.locked', 'tenant', 'issuer'],
    ['card.locked', 'tenant', 'issuer', 'operator'],
    ['card.unlocked'],
  ]);
});

test('a lock that the issuer has executed and then opened by itself is completed, and set again', () => {
  let state = stateWith(openCard());
  const lock = mutationOf('lock', state, 0);
  if (lock) state = run(state, [[lock]]).state;
  const executed = state.records.get(cards, CARD)?.state_control.pending_operation_id ?? '';
  const opened = { state: { kind: 'open', changedBy: 'issuer' }, at: NOW, executed } as const;
  for (let times = 0; times < 2; times += 1) {
    state = run(state, [[{ kind: 'applyReportedState', ...key, ...opened }]]).state;
    const card = state.records.get(cards, CARD);
    const pending = card?.state_control.pending_operation_id;
    const operations = state.records.all(cardOperations);
    const found = (id: unknown) => operations.find(({ _id }) => _id === id);
    expect(card?.status).toBe('locked');
    expect(found(executed)).toMatchObject({ type: 'lock', status: 'completed' });
    expect(found(pending)).toMatchObject({ type: 'state_reset', status: 'pending' });
    expect(operations).toHaveLength(2);
  }
});

test('a lock of the issuer has ended if the tenant has locked the card at the issuer since: then the tenant can unlock it', () => {
  const reported = (changedBy: 'us' | 'issuer', ms: number): AnyMutation => ({
    kind: 'applyReportedState',
    ...key,
    state: { kind: 'locked', changedBy },
    at: new Date(NOW.getTime() + ms),
  });
  let state = stateWith(openCard());
  state = run(state, [[reported('issuer', 1)]]).state;
  for (const name of ['lock', 'confirm']) {
    const mutation = mutationOf(name, state, 0);
    if (mutation) state = run(state, [[mutation]]).state;
  }
  // A refusal names no record.
  expect(run(state, [[request('unlock')]]).outcomes).toMatchObject([{ resource: null }]);
  state = run(state, [[reported('us', 2)]]).state;
  const { locks, status, state_control: control } = state.records.get(cards, CARD) ?? {};
  expect([locks?.issuer, status, control?.pending_operation_id]).toEqual([null, 'locked', null]);
  for (const name of ['unlock', 'confirm']) {
    const mutation = mutationOf(name, state, 0);
    if (mutation) state = run(state, [[mutation]]).state;
  }
  expect(state.records.get(cards, CARD)?.status).toBe('active');
});
