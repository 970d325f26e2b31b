import { readdirSync, readFileSync } from 'node:fs';
import { accountBehaviour, depositBehaviour } from '../../sandbox-bank/accounts/behaviours.js';
import {
  chargeBehaviour,
  pageBehaviour,
  refundBehaviour,
} from '../../sandbox-bank/acquirer/behaviours.js';
import { checkBehaviour, rejectionOf } from '../../sandbox-bank/identity/behaviours.js';
import type { CheckRequest } from '../../sandbox-bank/identity/records.js';
import type { Authorization } from '../../sandbox-bank/issuer/authorization-state.js';
import {
  disputeBehaviour,
  fundingBehaviour,
  issueBehaviour,
  stateBehaviour,
} from '../../sandbox-bank/issuer/behaviours.js';
import {
  asNamed,
  createPaymentScripts,
  isForced,
} from '../../sandbox-bank/issuer/payment-scripts.js';
import type { AuthorizationRequest } from '../../sandbox-bank/issuer/records.js';
import { FAULT_KINDS, FAULTY_CALLS } from '../../sandbox-bank/shared/faults.js';
import type { EffectKind } from '../../sandbox-bank/shared/journal-effects.js';
import { withEmptyParts } from '../support/parts.js';

const readRoot = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const guide = (page: string) => readRoot(`docs/guide/${page}.md`);
const testValues = guide('test-values');
const sandbox = readRoot('docs/sandbox.md');

/** The endings with a filled cell in this column of the first table after a text. */
function endingsAfter(text: string, page: string, column = 1): string[] {
  const [, after = ''] = page.split(text);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(after) ?? [];
  const rows = table.split('\n').map((row) =>
    row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim()),
  );
  return rows.filter((row) => (row[column] ?? '') !== '').map(([ending = '']) => ending);
}

const ENDINGS = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(3, '0'));

/** True if a payment at a merchant of this ending takes a course of its own. */
function hasCourse(ending: string): boolean {
  const merchant = { name: `Shop ${ending}`, category: '5411', country: 'NG' };
  const order = withEmptyParts<AuthorizationRequest>({
    kind: 'authorization',
    amount_minor: 10_000,
    hold_minor: null,
    merchant,
  });
  let steps = 0;
  const timers = { after: () => void (steps += 1), clear: () => undefined };
  const scripts = createPaymentScripts({ authorizations: withEmptyParts({}), timers });
  scripts.begin({ messages: [{ order, status: 'authorized', at: 0 }] } as unknown as Authorization);
  return steps > 0 || isForced(order) || asNamed(order) !== order;
}

const other = (behaviour: string, usual = 'done') => behaviour !== usual;
const check = (ending: string) => withEmptyParts<CheckRequest>({ ending, bvn_ending: null });

test.each<[string, (ending: string) => boolean, string[]]>([
  ['a card payment', hasCourse, endingsAfter('The end of `merchant.name`', testValues)],
  ['a funding', (end) => other(fundingBehaviour(end)), endingsAfter('A funding, by', testValues)],
  [
    'a card dispute',
    (end) => other(disputeBehaviour(end)),
    endingsAfter('A dispute of', testValues),
  ],
  ['a lock', (end) => other(stateBehaviour(end)), endingsAfter('A lock, an unlock', testValues)],
  [
    'an issuance',
    (end) => other(issueBehaviour(end)),
    endingsAfter('A lock, an unlock', testValues, 2),
  ],
  ['a page', (end) => other(pageBehaviour(end)), endingsAfter('end of the charge', testValues)],
  [
    'a charge',
    (end) => other(chargeBehaviour(end, 'done')),
    endingsAfter('end of the charge', testValues),
  ],
  ['a refund', (end) => other(refundBehaviour(end)), endingsAfter('end of the refund', testValues)],
  [
    'a check',
    (end) => other(checkBehaviour(check(end))) || rejectionOf(check(end)) !== null,
    endingsAfter('three digits of `number`', testValues),
  ],
  [
    'an account',
    (end) => other(accountBehaviour(end)),
    endingsAfter("of the customer's id", guide('virtual-accounts')),
  ],
  [
    'a deposit',
    (end) => other(depositBehaviour(end), 'told'),
    endingsAfter('of `sender_name`', guide('virtual-accounts')),
  ],
])('the guide lists every ending that chooses what becomes of %s', (_, chooses, listed) => {
  const playable = ENDINGS.filter(chooses);
  expect(playable.length).toBeGreaterThan(4);
  expect(playable.filter((ending) => !listed.includes(ending))).toEqual([]);
});

test('the guide or the page of the sandbox bank has every call of the bank’s controls', () => {
  const folder = new URL('../../sandbox-bank/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const calls = files
    .filter((name) => name.endsWith('routes.ts'))
    .flatMap((name) => readRoot(`sandbox-bank/${name}`).match(/(?<=')\/_sandbox\/[^']+/g) ?? []);
  expect(calls.length).toBeGreaterThan(15);
  const pages = [testValues, guide('virtual-accounts'), guide('bill-payments'), sandbox].join('\n');
  const isThere = (call: string) =>
    new RegExp(`${call.replace(':', '[^\\s/`"]+')}(?=["\`? {])`).test(pages);
  expect(calls.filter((call) => !isThere(call))).toEqual(['/_sandbox/health']);
});

/** Each kind of entry in the journal; the compiler misses none. */
const EFFECTS: Record<EffectKind, true> = {
  paid: true,
  reversed: true,
  issued: true,
  funded: true,
  funding_reversed: true,
  unloaded: true,
  unload_reversed: true,
  card_opened: true,
  card_locked: true,
  card_closed: true,
  locked_by_issuer: true,
  opened_by_issuer: true,
  closed_by_issuer: true,
  authorized: true,
  declined: true,
  cleared: true,
  authorization_reversed: true,
  authorization_expired: true,
  refunded_to_card: true,
  card_refund_reversed: true,
  clearing_corrected: true,
  card_disputed: true,
  card_dispute_refused: true,
  card_dispute_credited: true,
  card_dispute_credit_reversed: true,
  card_dispute_won: true,
  card_dispute_lost: true,
  card_dispute_withdrawn: true,
  charged: true,
  refunded: true,
  refund_returned: true,
  checked: true,
  disputed: true,
  dispute_won: true,
  dispute_lost: true,
  authorization_revoked: true,
  opened: true,
  closed: true,
  received: true,
  deposit_reversed: true,
  deposit_returned: true,
};

test('the page of the sandbox bank has every fault and every kind of entry in the journal', () => {
  const [, switches = ''] = sandbox.split('## Switches');
  const names = [...FAULTY_CALLS, ...FAULT_KINDS, ...Object.keys(EFFECTS)];
  expect(names.filter((name) => !switches.includes(`\`${name}\``))).toEqual([]);
});
