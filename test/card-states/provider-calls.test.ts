import { cardStateCalls } from '../../src/capabilities/card-states/provider-calls.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import type { GroupCommit } from '../../src/core/commit/group-commit.js';
import type { CardIssuer, ReadStateAnswer } from '../../src/core/providers/card-issuer.js';

const NEVER = new AbortController().signal;
const AT = new Date('2026-11-27T09:00:00.000Z');
const wanted = { card: 'card_1', state: 'open', version: 2, clientReference: 'cop_1' } as const;
const locking = { ...wanted, state: 'locked' } as const;
const trace = { providerRequestId: null };

const seen = (
  state: 'open' | 'locked' | 'closed',
  changedBy: 'us' | 'issuer',
  version = 1,
): ReadStateAnswer => ({ kind: 'state', state, changedBy, changedAt: AT, version, ...trace });

/** A change, by default an unlock, that the issuer refuses, and the state that it has then. `verdict`: of the state as a report. */
function refused(
  code: string,
  state: ReadStateAnswer,
  verdict: 'applied' | 'stale' = 'applied',
  change: typeof wanted | typeof locking = wanted,
) {
  const reports: object[] = [];
  const issuer = {
    cards: { stateSequence: 'issuer' },
    setState: async () => ({ kind: 'rejected', code, ...trace }),
    readState: async () => state,
  } as unknown as CardIssuer;
  const commit = async (_: unknown, input: object) => {
    reports.push(input);
    return { verdict, card: null as Card | null };
  };
  const groupCommit = { commit } as unknown as GroupCommit;
  const ids = { tenantId: 'ten_a', cardId: 'crd_1', operationId: 'cop_1' };
  const about = { ...ids, wanted: change, sequence: 7, isReset: false };
  return { reports, ...cardStateCalls({ issuer, groupCommit }, about) };
}

const report = (kind: string) => ({
  tenantId: 'ten_a',
  card: 'crd_1',
  state: { kind, changedBy: 'issuer' },
  at: AT,
  // An answer from before the tenant's next change proves nothing.
  sequence: 7,
});

test.each([
  ['locked_by_issuer', seen('locked', 'issuer')],
  // The client's own later request hides who has locked the card.
  ['locked_by_issuer', seen('locked', 'us')],
  ['card_closed', seen('closed', 'issuer')],
] as const)(
  'a refusal %s ends an unlock, and is applied as a report of its state',
  async (code, state) => {
    const { submit, reports } = refused(code, state);
    expect(await submit(AT, NEVER)).toEqual({ kind: 'rejected', code, ...trace });
    expect(reports).toEqual([report(code === 'card_closed' ? 'closed' : 'locked')]);
  },
);

test.each([
  ['has another state by now', seen('open', 'issuer'), 'applied', 0],
  [
    'does not answer about its state',
    { kind: 'unknown', reason: 'timeout', ...trace },
    'applied',
    0,
  ],
  ['has reported a later change', seen('locked', 'issuer'), 'stale', 1],
] as const)(
  'a refused unlock is tried again if the issuer %s',
  async (_, state, verdict, times) => {
    const { submit, reports } = refused('locked_by_issuer', state, verdict);
    expect(await submit(AT, NEVER)).toMatchObject({ kind: 'rejected_temporarily' });
    expect(reports).toHaveLength(times);
  },
);

test('a lock that the issuer has executed, and then opened by itself, has succeeded, and the opening is applied as a report', async () => {
  const opened = seen('open', 'issuer', 2);
  const { verify, reports } = refused('', opened, 'applied', locking);
  expect(await verify(NEVER)).toMatchObject({ kind: 'succeeded' });
  expect(reports).toEqual([{ ...report('open'), executed: 'cop_1' }]);
  const late = refused('', opened, 'stale', locking);
  expect(await late.verify(NEVER)).toMatchObject({ kind: 'unknown' });
  const mine = refused('', seen('open', 'us', 2), 'applied', locking);
  expect([(await mine.verify(NEVER)).kind, mine.reports]).toEqual(['pending', []]);
  const before = refused('', seen('open', 'issuer', 1), 'applied', locking);
  expect([(await before.verify(NEVER)).kind, before.reports]).toEqual(['not_found', []]);
});

test('a question shows a lock of the issuer, and says nothing if a later change was reported', async () => {
  const ended = refused('', seen('locked', 'issuer'));
  expect(await ended.verify(NEVER)).toMatchObject({ kind: 'rejected', code: 'locked_by_issuer' });
  expect(ended.reports).toEqual([report('locked')]);
  const late = refused('', seen('locked', 'issuer'), 'stale');
  expect(await late.verify(NEVER)).toMatchObject({ kind: 'unknown' });
});
