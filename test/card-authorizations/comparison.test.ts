import {
  authorizationAgrees,
  describeAuthorization,
  reconciledAuthorizations,
} from '../../src/capabilities/card-authorizations/comparison.js';
import type { AuthorizationFact } from '../../src/capabilities/card-authorizations/facts.js';
import { factOf } from '../../src/capabilities/card-authorizations/store.js';
import { newAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import type {
  AuthorizationState,
  CardIssuer,
  FindAuthorizationAnswer,
} from '../../src/core/providers/card-issuer.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';
import type { Database } from '../../src/platform/database/client.js';
import { withEmptyParts } from '../support/parts.js';
import { NOW } from '../support/transfers.js';

const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const of = (amountMinor: bigint, messageId: string) => ({ amountMinor, messageId });
const STATES: Record<string, AuthorizationState> = {
  clearing: { ...of(4_200n, 'clr_1'), kind: 'cleared', final: true, forced: false },
  'clearing again': { ...of(4_200n, 'clr_9'), kind: 'cleared', final: true, forced: false },
  'second clearing': { ...of(300n, 'clr_2'), kind: 'cleared', final: true, forced: false },
  'smaller clearing': { ...of(4_000n, 'clr_1'), kind: 'cleared', final: true, forced: false },
  refund: { ...of(1_200n, 'rfd_1'), kind: 'refunded' },
  'whole reversal': { messageId: 'rev_1', kind: 'reversed', amountMinor: null },
  expiry: { messageId: 'exp_1', kind: 'expired' },
  'stand-in': { ...of(700n, 'msg_2'), kind: 'approved', standIn: 'network' },
  'decline of another request': { messageId: 'msg_3', kind: 'declined', whole: false, code: 'no' },
};
const reportsOf = (names: readonly string[]) =>
  names.map((name, index) => ({ state: STATES[name] as AuthorizationState, at: after(index + 1) }));

const approval: AuthorizationFact = {
  key: 'approved-msg_1',
  kind: 'approved',
  message_id: 'msg_1',
  amount_minor: 5_000n,
  held_minor: 5_000n,
  stand_in: null,
  at: NOW,
};
const trace = { providerRequestId: null };
const answerOf = (names: readonly string[]): FindAuthorizationAnswer => ({
  ...trace,
  kind: 'authorization',
  over: true,
  approved: [],
  reports: reportsOf(names),
});
const factsOf = (names: readonly string[]) =>
  reportsOf(names).map(({ state, at }) => factOf(state, at));
const cleared = {
  facts: [approval, ...factsOf(['clearing'])],
  cleared_minor: 4_200n,
  refunded_minor: 0n,
};

test.each([
  ['the clearing', ['clearing'], true],
  ['the clearing and an expiry', ['clearing', 'expiry'], true],
  ['the clearing and a decline', ['clearing', 'decline of another request'], true],
  ['nothing', [], false],
  ['another clearing', ['second clearing'], false],
  ['the clearing with another amount', ['smaller clearing'], false],
  ['a further clearing', ['clearing', 'second clearing'], false],
  ['a refund', ['clearing', 'refund'], false],
  ['a reversal of all', ['clearing', 'whole reversal'], false],
  ['an approval in our place', ['clearing', 'stand-in'], false],
])('a cleared payment of which the issuer reports %s agrees: %s %s', (_, names, agrees) => {
  expect(authorizationAgrees(cleared, answerOf(names))).toBe(agrees);
});

test('a hold that the issuer has released, and of which nothing is held here, is a break', () => {
  const facts = factsOf(['stand-in']).map((fact) => ({ ...fact, held_minor: 0n }));
  const one = { facts, cleared_minor: 0n, refunded_minor: 0n };
  expect(authorizationAgrees(one, answerOf(['stand-in']))).toBe(false);
  const described = { ...one, standing: 'approved', amount_minor: 700n } as const;
  expect(describeAuthorization(described, answerOf(['stand-in']))).toMatchObject({
    breakKind: 'other_state',
    difference: 'approved with us, held no more at the issuer',
  });
  expect(authorizationAgrees(one, answerOf(['stand-in', 'expiry']))).toBe(false);
});

test.each([
  ['a refund', ['clearing', 'refund'], 'other_state', 1_200n],
  ['a report with another amount', ['smaller clearing'], 'other_amount', 200n],
  ['less than was booked', [], 'missing_there', 4_200n],
])(
  '%s of the issuer is a break of its kind with the difference',
  (_, names, breakKind, amountMinor) => {
    const one = { ...cleared, standing: 'cleared', amount_minor: 5_000n } as const;
    expect(describeAuthorization(one, answerOf(names))).toMatchObject({ breakKind, amountMinor });
  },
);

test('one clearing that is booked under two message ids is a break of its amount', () => {
  const facts = [approval, ...factsOf(['clearing', 'clearing again'])];
  const one = { facts, cleared_minor: 8_400n, refunded_minor: 0n };
  const answer = answerOf(['clearing']);
  expect(authorizationAgrees(one, answer)).toBe(false);
  const compared = { ...one, standing: 'cleared', amount_minor: 5_000n } as const;
  expect(describeAuthorization(compared, answer)).toMatchObject({
    breakKind: 'missing_there',
    amountMinor: 4_200n,
  });
});

test('our own decisions and disputes need no report of the issuer', () => {
  const financial: AuthorizationFact = {
    key: 'financial-msg_1',
    kind: 'cleared',
    of: { message_id: 'msg_1', held_minor: 5_000n },
    final: false,
    amount_minor: 5_000n,
    at: NOW,
  };
  const ended = { amount_minor: 0n, at: after(9) };
  const own: AuthorizationFact[] = [
    approval,
    financial,
    { ...approval, key: 'approved-msg_9', message_id: 'msg_9' },
    { ...ended, key: 'voided-req_9', kind: 'declined', message_id: 'msg_9' },
    { ...ended, key: 'hold-expired-1', kind: 'expired' },
    { ...ended, key: 'dsp_1-2', kind: 'dispute_credited', amount_minor: 700n },
  ];
  const one = { facts: own, cleared_minor: 5_000n, refunded_minor: 0n };
  expect(authorizationAgrees(one, answerOf([]))).toBe(true);
});

test('a report keeps the time of its message here: the issuer may name another', () => {
  const facts = [approval, ...factsOf(['clearing', 'whole reversal', 'second clearing'])];
  const one = { facts, cleared_minor: 300n, refunded_minor: 0n };
  const answer = answerOf(['clearing', 'second clearing', 'whole reversal']);
  expect(authorizationAgrees(one, answer)).toBe(true);
});

test('the amount of a break is positive, also if more was returned than taken', () => {
  const minor = { amount_minor: 0n, cleared_minor: 0n, refunded_minor: 1_200n };
  const one = { ...minor, facts: [], standing: 'cleared' as const };
  const answer = { ...trace, kind: 'not_found' } as const;
  expect(describeAuthorization(one, answer)).toMatchObject({
    breakKind: 'missing_there',
    amountMinor: 1_200n,
  });
});

test('a payment that the issuer does not know agrees if nothing of it is taken', () => {
  const answer = { ...trace, kind: 'not_found' } as const;
  expect(authorizationAgrees(cleared, answer)).toBe(false);
  const ended = { facts: [approval], cleared_minor: 0n, refunded_minor: 0n };
  expect(authorizationAgrees(ended, answer)).toBe(true);
});

test('all that the issuer has reported is applied at once, so that the workflow is told once', async () => {
  const payment = {
    ...newAuthorization(
      { tenantId: 'ten_a', id: 'aut_1', card: 'crd_a', provider: 'p', token: 't' },
      null,
      NOW,
    ),
    ...cleared,
  };
  const applied: [string, FindAuthorizationAnswer][] = [];
  const answer = answerOf(['clearing', 'second clearing', 'refund']);
  const reconciled = reconciledAuthorizations({
    config: { cards: { authorizationTerms: { holdMs: 0 } } },
    database: withEmptyParts<Database>({
      db: withEmptyParts<Database['db']>({ collection: () => withEmptyParts({}) }),
    }),
    cardAuthorizations: {
      store: { get: async () => ({ ...payment, version: 1 + applied.length }) },
      async applyReports({ _id: id }, found) {
        applied.push([id, found]);
      },
    },
    providers: {
      issuer: () => withEmptyParts<CardIssuer>({ findAuthorization: async () => answer }),
    },
  });
  const report = emptyReport();
  const breaks = { note: async () => undefined };
  const run = { apply: true, takeTurn: async () => undefined, report, breaks };
  await reconciled.reconcileOne(run, 'ten_a', 'aut_1');
  expect(applied).toEqual([['aut_1', answer]]);
  expect(report).toMatchObject({ differing: 1, settled: 1 });
});
