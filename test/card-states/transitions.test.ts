import { type Named, type AnyMutation } from '../support/mutations.js';
import fc from 'fast-check';
import { cards, isPastExpiry, type Card } from '../../src/capabilities/cards/record.js';
import { type CardStateType } from '../../src/capabilities/card-states/transitions.js';
import { createCardStateStarter } from '../../src/capabilities/card-states/index.js';
import { cardOperations, newOperation } from '../../src/capabilities/cards/card-operation.js';
import type { InstructionStarterSettings } from '../../src/core/supervision/workflow-starter.js';
import { newId } from '../../src/shared/ids.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { openCard } from '../support/card-record.js';
import { balances, run } from '../support/decisions.js';
import { byProvider, claimOf, emptySnapshot, NOW } from '../support/transfers.js';

const TENANT = 'ten_a';
const CARD = newId('card');

const card = (changes: Partial<Card> = {}): Card =>
  openCard({
    _id: CARD,
    issued: {
      issuer_card_id: 'card_1',
      brand: 'verve',
      last4: '4242',
      expiry_month: 11,
      expiry_year: 2026,
    },
    ...changes,
  });

function withCard(changes: Partial<Card> = {}): Snapshot {
  const snapshot = emptySnapshot();
  snapshot.records.set(cards, card(changes));
  return snapshot;
}

function stateRequest(type: CardStateType, key?: string): Named<'acceptCardState'> {
  const given = { tenant_id: TENANT, card_id: CARD, type, provider: 'sandbox-bank' };
  const operation = { ...newOperation(given, NOW, 'accepted'), type };
  return {
    kind: 'acceptCardState',
    tenantId: TENANT,
    operation,
    claim: key === undefined ? null : claimOf(key),
    answer: ({ _id, status }) => ({ status: 201, body: `${_id} ${status}` }),
  };
}

const fact = (
  { operation: { _id: id } }: Named<'acceptCardState'>,
  what: { kind: 'succeeded' } | { kind: 'rejected'; code: string; ifNotSubmitted?: boolean },
): Named<'applyCardStateFact'> => {
  const details =
    what.kind === 'succeeded' ? { ...what, amountMinor: null, sessionId: null } : what;
  return {
    kind: 'applyCardStateFact',
    tenantId: TENANT,
    id,
    card: CARD,
    fact: { ...byProvider, ...details },
  };
};
const set = (mutation: Named<'acceptCardState'>) => fact(mutation, { kind: 'succeeded' });

const cardIn = (state: Snapshot) => state.records.get(cards, CARD) as Card;
const operationIn = (state: Snapshot, { operation: { _id: id } }: Named<'acceptCardState'>) =>
  state.records.get(cardOperations, id);
const eventsIn = (commits: ReturnType<typeof run>['commits']) =>
  commits.flatMap(({ events }) => events.map(({ name, sequence }) => [name, sequence]));

describe('the state of a card', () => {
  test('a lock holds from its commit on and emits an event; the operation completes when the issuer confirms it', () => {
    const lock = stateRequest('lock');
    const accepted = run(withCard(), [[lock]]);
    expect(cardIn(accepted.state)).toMatchObject({
      status: 'locked',
      state_control: {
        desired: 'locked',
        sequence: 1,
        confirmed_sequence: 0,
        pending_operation_id: lock.operation._id,
      },
    });
    expect(operationIn(accepted.state, lock)).toMatchObject({
      status: 'pending',
      state_sequence: 1,
    });
    expect(eventsIn(accepted.commits)).toEqual([['card.locked', 1]]);

    const done = run(accepted.state, [[set(lock)]]);
    expect(operationIn(done.state, lock)).toMatchObject({
      status: 'completed',
      next_check_at: null,
    });
    expect(cardIn(done.state).state_control).toMatchObject({
      confirmed_sequence: 1,
      pending_operation_id: null,
    });
    expect(eventsIn(done.commits)).toEqual([['card.operation.completed', 1]]);
  });

  test('an unlock opens the card only when the issuer confirms it, and emits its event in that commit', () => {
    const [lock, unlock] = [stateRequest('lock'), stateRequest('unlock')];
    const waiting = run(withCard(), [[lock], [set(lock)], [unlock]]);
    expect(cardIn(waiting.state)).toMatchObject({
      status: 'locked',
      state_control: { sequence: 2 },
    });
    const done = run(waiting.state, [[set(unlock)]]);
    expect(cardIn(done.state).status).toBe('active');
    expect(eventsIn(done.commits)).toEqual(
      expect.arrayContaining([
        ['card.unlocked', 2],
        ['card.operation.completed', 1],
      ]),
    );
  });

  test('a later change supersedes an open one, also in one commit; a late confirmation of the first opens nothing', () => {
    for (const together of [true, false]) {
      const mutations = [
        stateRequest('lock'),
        stateRequest('unlock'),
        stateRequest('lock'),
      ] as const;
      const [first, unlock, last] = mutations;
      const batches = together ? [[...mutations]] : mutations.map((mutation) => [mutation]);
      const { state, commits } = run(withCard(), batches);
      for (const mutation of [first, unlock]) {
        expect(operationIn(state, mutation)).toMatchObject({
          status: 'failed',
          failure: { code: 'superseded' },
          next_check_at: null,
        });
      }
      expect(operationIn(state, last)).toMatchObject({ status: 'pending', state_sequence: 3 });
      const names = eventsIn(commits).map(([name]) => name);
      // It never opened in between, so it was locked once.
      expect(names.filter((name) => name === 'card.locked')).toHaveLength(1);
      expect(names.filter((name) => name === 'card.operation.failed')).toHaveLength(2);

      const late = run(state, [[set(unlock)]]);
      expect(cardIn(late.state)).toEqual(cardIn(state));
      expect(operationIn(late.state, unlock)).toEqual(operationIn(state, unlock));
    }
  });

  test.each([
    [
      'lock',
      {
        status: 'locked',
        state_control: {
          desired: 'locked',
          sequence: 3,
          confirmed_sequence: 3,
          pending_operation_id: null,
          doubted_at: null,
          reported_at: null,
        },
      },
    ],
    ['unlock', {}],
    [
      'close',
      {
        status: 'closed',
        state_control: {
          desired: 'closed',
          sequence: 1,
          confirmed_sequence: 1,
          pending_operation_id: null,
          doubted_at: null,
          reported_at: null,
        },
      },
    ],
  ] as const)(
    '%s of a card already in that state completes at once and changes nothing',
    (type, so) => {
      const mutation = stateRequest(type);
      const { state, commits } = run(withCard(so), [[mutation]]);
      expect(cardIn(state)).toEqual(card(so));
      expect(operationIn(state, mutation)).toMatchObject({
        status: 'completed',
        state_sequence: null,
        next_check_at: null,
      });
      expect(eventsIn(commits)).toEqual([['card.operation.completed', 1]]);
    },
  );

  test.each([
    ['pending', ['lock', 'unlock', 'close']],
    ['failed', ['lock', 'unlock', 'close']],
    ['closed', ['lock', 'unlock']],
    ['expired', ['lock', 'unlock']],
  ] as const)('a card that is %s refuses %s with its state', (status, types) => {
    for (const type of types) {
      const { state, outcomes, commits } = run(withCard({ status }), [[stateRequest(type, type)]]);
      const [outcome] = outcomes;
      expect(outcome).toMatchObject({ kind: 'answered', resource: null, answer: { status: 422 } });
      expect(JSON.stringify(outcome)).toContain(status);
      expect(cardIn(state)).toEqual(card({ status }));
      expect(commits[0]?.created.all(cardOperations)).toEqual([]);
    }
  });

  test('closing ends an open unlock, takes effect at once, and returns a balance that is ours to the wallet', () => {
    const before = withCard({ available_minor: 700n, balances: 'ours' });
    const [lock, unlock, close] = [
      stateRequest('lock'),
      stateRequest('unlock'),
      stateRequest('close'),
    ];
    const { state } = run(before, [[lock], [unlock], [close]]);
    expect(cardIn(state)).toMatchObject({ status: 'closed', available_minor: 0n });
    expect(operationIn(state, unlock)).toMatchObject({ failure: { code: 'superseded' } });
    expect(state.wallets.get(TENANT)?.availableMinor).toBe(700n);
    expect(balances(state).get(`card:${CARD}:available`)).toBe(-700n);
    const late = run(state, [[set(unlock)], [set(close)]]);
    expect(cardIn(late.state)).toMatchObject({
      status: 'closed',
      state_control: { confirmed_sequence: 3 },
    });
  });

  test.each([
    ['lock', 'locked', 'stays locked here'],
    ['unlock', 'locked', 'stays locked'],
    ['close', 'closed', 'stays closed here'],
  ] as const)(
    '%s failed by an operator leaves the card not spendable, and its timeline records that',
    (type, status, details) => {
      const lock = stateRequest('lock');
      const mutation = stateRequest(type);
      const start = type === 'unlock' ? [[lock], [set(lock)], [mutation]] : [[mutation]];
      const { state } = run(withCard(), start);
      const failed = run(state, [[fact(mutation, { kind: 'rejected', code: 'operator' })]]);
      const operation = operationIn(failed.state, mutation);
      expect(operation).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
      expect(operation?.timeline.at(-1)?.detail).toContain(details);
      expect(cardIn(failed.state)).toMatchObject({
        status,
        state_control: { pending_operation_id: null },
      });
      // The state at the issuer is unknown, so the next request is always submitted.
      const again = stateRequest(type === 'unlock' ? 'lock' : type);
      const { state: after } = run(failed.state, [[again]]);
      expect(operationIn(after, again)).toMatchObject({ status: 'pending' });
    },
  );

  test('a rejection valid only before submission has no effect once a request was submitted', () => {
    const lock = stateRequest('lock');
    const { state } = run(withCard(), [[lock]]);
    const sent = operationIn(state, lock);
    if (sent)
      state.records.set(cardOperations, {
        ...sent,
        status: 'processing',
        submissions: 1,
      });
    const rejection = fact(lock, { kind: 'rejected', code: 'operator', ifNotSubmitted: true });
    expect(operationIn(run(state, [[rejection]]).state, lock)?.status).toBe('processing');
  });

  test('for any sequence of requests and confirmations the newest request decides, and opens the card only when confirmed', () => {
    const step = fc.oneof(
      fc.constantFrom<CardStateType>('lock', 'unlock'),
      fc.nat({ max: 30 }).map((of) => ({ confirm: of })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, together) => {
        const made: Named<'acceptCardState'>[] = [];
        const mutations = steps.flatMap((one): AnyMutation[] => {
          if (typeof one !== 'string') return made.slice(one.confirm, one.confirm + 1).map(set);
          const mutation = stateRequest(one);
          made.push(mutation);
          return [mutation];
        });
        const batches = together ? [mutations] : mutations.map((mutation) => [mutation]);
        const { state } = run(withCard(), batches);
        const { status, state_control: control } = cardIn(state);
        const isConfirmed = control.sequence === control.confirmed_sequence;
        expect(control.pending_operation_id === null).toBe(isConfirmed);
        expect(status === 'active').toBe(isConfirmed && control.desired === 'open');
        const open = made.filter((mutation) => operationIn(state, mutation)?.status === 'pending');
        expect(open.map(({ operation: { _id } }) => _id)).toEqual(
          control.pending_operation_id === null ? [] : [control.pending_operation_id],
        );
      }),
    );
  });
});

describe('the end of a card', () => {
  const at = (iso: string) => new Date(iso);

  test('a card is valid to the last moment of its month in Lagos', () => {
    expect(isPastExpiry(card(), at('2026-11-30T22:59:59.999Z'))).toBe(false);
    expect(isPastExpiry(card(), at('2026-11-30T23:00:00.000Z'))).toBe(true);
    expect(isPastExpiry(card(), at('2027-01-01T00:00:00.000Z'))).toBe(true);
    expect(isPastExpiry(card({ issued: null }), at('2030-01-01T00:00:00.000Z'))).toBe(false);
  });

  test('expiry ends open operations, returns a balance that is ours, and a late confirmation opens nothing', () => {
    const [lock, unlock] = [stateRequest('lock'), stateRequest('unlock')];
    const issued = { ...card().issued, expiry_month: 10 } as Card['issued'];
    const expire = { kind: 'expireCard', tenantId: TENANT, card: CARD } as const;
    const before = withCard({ issued, available_minor: 300n, balances: 'ours' });
    const { state, outcomes } = run(before, [[lock], [set(lock)], [unlock], [expire]]);
    expect(outcomes.at(-1)).toEqual({ expired: true });
    expect(cardIn(state)).toMatchObject({ status: 'expired', available_minor: 0n });
    expect(operationIn(state, unlock)).toMatchObject({ failure: { code: 'card_expired' } });
    expect(state.wallets.get(TENANT)?.availableMinor).toBe(300n);
    expect(cardIn(run(state, [[set(unlock)]]).state).status).toBe('expired');
  });

  test('expiry before its time, or of a closed card, changes nothing', () => {
    const expire = { kind: 'expireCard', tenantId: TENANT, card: CARD } as const;
    const issued = { ...card().issued, expiry_month: 10 } as Card['issued'];
    for (const changes of [{}, { issued, status: 'closed' }] as Partial<Card>[]) {
      const { state, outcomes } = run(withCard(changes), [[expire]]);
      expect(outcomes).toEqual([{ expired: false }]);
      expect(cardIn(state)).toEqual(card(changes));
    }
  });
});

test('a command about an operation that has ended never reaches the workflow of the card, which has another', async () => {
  const settings = {
    taskQueue: 'bursar',
    policy: { attentionAfterMs: 1, pollMaxMs: 1, maxSubmissions: 4, maxErrors: 12 },
  };
  // This test has no Temporal, so a call to it would fail.
  const nowhere = { ...settings, client: {}, log: {} } as unknown as InstructionStarterSettings;
  const superseded = { ...stateRequest('unlock').operation, status: 'failed' } as const;
  const payload = { actor: 'ada', reason: 'lost', session_id: null, force: true };
  const answer = await createCardStateStarter(nowhere).command(superseded, 'fail', payload);
  expect(answer).toEqual({ done: false, message: 'The unlock is failed already.' });
});
