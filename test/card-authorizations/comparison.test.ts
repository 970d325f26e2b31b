import { authorizationAgrees } from '../../src/capabilities/card-authorizations/comparison.js';
import type { AuthorizationFact } from '../../src/capabilities/card-authorizations/facts.js';
import { factOf } from '../../src/capabilities/card-authorizations/store.js';
import type { AuthorizationState } from '../../src/core/providers/card-issuer.js';
import { NOW } from '../support/transfers.js';

const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const of = (amountMinor: bigint, messageId: string) => ({ amountMinor, messageId });
const STATES: Record<string, AuthorizationState> = {
  clearing: { ...of(4_200n, 'clr_1'), kind: 'cleared', final: true },
  'second clearing': { ...of(300n, 'clr_2'), kind: 'cleared', final: true },
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
const cleared = {
  facts: [approval, ...reportsOf(['clearing']).map(({ state, at }) => factOf(state, at))],
  cleared_minor: 4_200n,
  refunded_minor: 0n,
};

test.each([
  ['the clearing', ['clearing'], true],
  ['the clearing and an expiry', ['clearing', 'expiry'], true],
  ['the clearing and a decline', ['clearing', 'decline of another request'], true],
  ['nothing: a message has told more', [], true],
  ['a further clearing', ['clearing', 'second clearing'], false],
  ['a refund', ['clearing', 'refund'], false],
  ['a reversal of all', ['clearing', 'whole reversal'], false],
  ['an approval in our place', ['clearing', 'stand-in'], false],
])('a cleared payment of which the issuer reports %s agrees: %s %s', (_, names, agrees) => {
  const answer = {
    ...trace,
    kind: 'authorization',
    over: true,
    reports: reportsOf(names),
  } as const;
  expect(authorizationAgrees(cleared, answer)).toBe(agrees);
});

test('a payment that the issuer does not know agrees if nothing of it is taken', () => {
  const answer = { ...trace, kind: 'not_found' } as const;
  expect(authorizationAgrees(cleared, answer)).toBe(false);
  const ended = { facts: [approval], cleared_minor: 0n, refunded_minor: 0n };
  expect(authorizationAgrees(ended, answer)).toBe(true);
});
