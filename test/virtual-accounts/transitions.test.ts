import {
  ACCOUNT_STATES,
  freshInstruction,
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import { factOf } from '../../src/capabilities/virtual-accounts/provider-calls.js';
import {
  transitionAccount,
  type AccountFact,
  type AccountTransition,
} from '../../src/capabilities/virtual-accounts/transitions.js';
import { needsWorkflow } from '../../src/core/instructions/instruction.js';

const NOW = new Date('2026-11-25T09:00:00Z');
const source = { via: 'poll', actor: null, providerRequestId: null, note: null } as const;
const OF_ASSIGNMENT = { ...source, instruction: 'assign' } as const;
const OF_CLOSING = { ...source, instruction: 'close' } as const;
const DONE = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;
const TAKEN_BACK = { ...DONE, kind: 'reversed' } as const;
const assigned = {
  ...OF_ASSIGNMENT,
  kind: 'assigned',
  accountNumber: '9800000001',
  handle: 'ada-1',
  accountName: 'Ada Obi',
  bankName: 'Sandbox Bank',
  bankCode: '090',
} as const;

const facts = {
  assigned,
  'assigned with another number': { ...assigned, accountNumber: '9800000002' },
  'assignment succeeded': { ...OF_ASSIGNMENT, ...DONE },
  'assignment refused': { ...OF_ASSIGNMENT, kind: 'rejected', code: 'not_eligible' },
  'assignment refused, by message': {
    ...OF_ASSIGNMENT,
    via: 'webhook',
    kind: 'rejected',
    code: 'not_eligible',
  },
  'assignment found closed': { ...OF_ASSIGNMENT, kind: 'rejected', code: 'closed' },
  'assignment ended by an operator': {
    ...OF_ASSIGNMENT,
    via: 'operator',
    kind: 'rejected',
    code: 'operator',
    ifNotSubmitted: true,
  },
  'assignment ended by force': {
    ...OF_ASSIGNMENT,
    via: 'operator',
    kind: 'rejected',
    code: 'operator',
  },
  'assignment confirmed by an operator': {
    ...OF_ASSIGNMENT,
    via: 'operator',
    kind: 'operator_confirmed',
  },
  'assignment taken back': { ...OF_ASSIGNMENT, ...TAKEN_BACK },
  closed: { ...OF_CLOSING, ...DONE },
  'closed, by message': { ...OF_CLOSING, via: 'webhook', ...DONE },
  'closing refused': { ...OF_CLOSING, kind: 'rejected', code: 'not_closable' },
  'closing ended by an operator': {
    ...OF_CLOSING,
    via: 'operator',
    kind: 'rejected',
    code: 'operator',
    ifNotSubmitted: true,
  },
  'closing ended by force': { ...OF_CLOSING, via: 'operator', kind: 'rejected', code: 'operator' },
  'closing confirmed by an operator': {
    ...OF_CLOSING,
    via: 'operator',
    kind: 'operator_confirmed',
  },
  'closing taken back': { ...OF_CLOSING, ...TAKEN_BACK },
} as const satisfies Record<string, AccountFact>;
type Fact = keyof typeof facts;
/** A fact, a permit to submit (which the store grants), or a tenant's request to close. */
type Event = Fact | 'submitted' | 'closing requested';

const pending: VirtualAccount = newVirtualAccount(
  {
    tenantId: 'ten_a',
    provider: 'sandbox-bank',
    customer: { id: 'holder-1', name: null, email: null, phone: null },
    accountName: 'Ada Obi',
    bankCode: null,
    reference: undefined,
    expectedMinor: null,
    onMismatch: 'accept',
    metadata: null,
  },
  NOW,
);

function step(account: VirtualAccount, event: Event): AccountTransition {
  if (event === 'submitted') {
    const submissions = account.submissions + 1;
    return { verdict: 'applied', next: { ...account, status: 'processing', submissions } };
  }
  if (event === 'closing requested') {
    const next = { ...account, ...freshInstruction('close', NOW), state: 'closing' } as const;
    return { verdict: 'applied', next };
  }
  return transitionAccount(account, facts[event], NOW);
}
const after = (events: readonly Event[]): VirtualAccount =>
  events.reduce((account, event) => step(account, event).next, pending);

/** The present instruction's status and the account's state, with `!` for attention and `…` for monitoring. */
const shown = ({ state, status, attention, monitor_until: until }: VirtualAccount): string =>
  `${state}, ${status}${attention ? '!' : ''}${until ? '…' : ''}`;

const SUBMITTED: Event[] = ['submitted'];
const ACTIVE: Event[] = [...SUBMITTED, 'assigned'];
const FORCED: Event[] = [...SUBMITTED, 'assignment ended by force'];
const LATE: Event[] = [...FORCED, 'assigned'];
const CLOSING: Event[] = [...ACTIVE, 'closing requested'];
const REFUSED: Event[] = [...CLOSING, 'submitted', 'closing refused'];
const CLOSED: Event[] = [...CLOSING, 'submitted', 'closed'];
const OTHER: Event = 'assigned with another number';

/** The cells of a row: what the account becomes. Every other fact changes nothing at all. */
type Row = { from: Event[]; is: string; cells: Partial<Record<Fact, string>> };

const ended = (as: string) =>
  ({
    'assignment refused': as,
    'assignment refused, by message': as,
    'assignment found closed': as,
    closed: as,
    'closed, by message': as,
  }) as const;
const closedBy = {
  'assignment found closed': 'closed, completed',
  closed: 'closed, completed',
  'closed, by message': 'closed, completed',
} as const;
const contradicted = {
  'assignment refused': 'active, completed!',
  'assignment refused, by message': 'active, completed!',
  'assignment ended by force': 'active, completed!',
} as const;

const rows: Record<string, Row> = {
  'not submitted yet': {
    from: [],
    is: 'pending, pending',
    cells: {
      assigned: 'active, completed',
      [OTHER]: 'active, completed',
      ...ended('failed, failed'),
      'assignment ended by an operator': 'failed, failed',
      'assignment ended by force': 'failed, failed',
    },
  },
  submitted: {
    from: SUBMITTED,
    is: 'pending, processing',
    cells: {
      assigned: 'active, completed',
      [OTHER]: 'active, completed',
      ...ended('failed, failed'),
      'assignment ended by force': 'failed, failed…',
    },
  },
  active: {
    from: ACTIVE,
    is: 'active, completed',
    cells: { [OTHER]: 'active, completed!', ...contradicted, ...closedBy },
  },
  'active with a contradiction': {
    from: [...ACTIVE, OTHER],
    is: 'active, completed!',
    cells: {
      ...contradicted,
      'assignment confirmed by an operator': 'active, completed',
      ...closedBy,
    },
  },
  refused: {
    from: [...SUBMITTED, 'assignment refused'],
    is: 'failed, failed',
    cells: { assigned: 'failed, failed!', [OTHER]: 'failed, failed!' },
  },
  'failed by force and monitored': {
    from: FORCED,
    is: 'failed, failed…',
    cells: { assigned: 'failed, failed!', [OTHER]: 'failed, failed!', ...ended('failed, failed') },
  },
  'failed, and assigned afterwards': {
    from: LATE,
    is: 'failed, failed!',
    cells: {
      [OTHER]: 'failed, failed!',
      'assignment refused': 'failed, failed',
      'assignment found closed': 'failed, failed',
      'assignment ended by force': 'failed, failed',
      'assignment confirmed by an operator': 'active, completed',
      closed: 'failed, failed',
      'closed, by message': 'failed, failed',
    },
  },
  'failed, assigned afterwards and closed': {
    from: [...LATE, 'closed, by message'],
    is: 'failed, failed',
    cells: {
      [OTHER]: 'failed, failed!',
      'assignment confirmed by an operator': 'active, completed',
    },
  },
  'active after it had failed': {
    from: [...LATE, 'assignment confirmed by an operator'],
    is: 'active, completed',
    cells: { [OTHER]: 'active, completed!', ...contradicted, ...closedBy },
  },
  closing: {
    from: CLOSING,
    is: 'closing, pending',
    cells: {
      [OTHER]: 'closing, pending!',
      ...closedBy,
      'closing refused': 'active, failed',
      'closing ended by an operator': 'active, failed',
      'closing ended by force': 'active, failed',
    },
  },
  'closing and submitted': {
    from: [...CLOSING, 'submitted'],
    is: 'closing, processing',
    cells: {
      [OTHER]: 'closing, processing!',
      ...closedBy,
      'closing refused': 'active, failed',
      'closing ended by force': 'active, failed',
    },
  },
  'active after a refused closing': {
    from: REFUSED,
    is: 'active, failed',
    cells: { [OTHER]: 'active, failed!', ...closedBy },
  },
  'active after a refused closing, with a contradiction': {
    from: [...REFUSED, OTHER],
    is: 'active, failed!',
    cells: {
      ...closedBy,
      'closing ended by an operator': 'active, failed',
      'closing ended by force': 'active, failed',
    },
  },
  closed: { from: CLOSED, is: 'closed, completed', cells: { [OTHER]: 'closed, completed!' } },
  'closed with a contradiction': {
    from: [...CLOSED, OTHER],
    is: 'closed, completed!',
    cells: { 'closing confirmed by an operator': 'closed, completed' },
  },
  'closed by the provider itself': {
    from: [...ACTIVE, 'closed, by message'],
    is: 'closed, completed',
    cells: { [OTHER]: 'closed, completed!' },
  },
};

describe.each(Object.entries(rows))('an account that is %s', (_, { from, is, cells }) => {
  const before = after(from);

  test.each(Object.keys(facts) as Fact[])('and then: %s', (name) => {
    expect(shown(before)).toBe(is);
    const { verdict, next } = step(before, name);
    const isChanged = verdict === 'applied' || verdict === 'attention';
    expect(isChanged ? shown(next) : undefined).toBe(cells[name]);
    if (!isChanged) return expect(next).toBe(before);
    // The fact and its effect are on the timeline, and an account with something to do gets its workflow.
    expect([next.version, next.timeline.length]).toEqual([
      before.version + 1,
      before.timeline.length + 2,
    ]);
    expect(next.next_check_at !== null).toBe(needsWorkflow(next));
    if (verdict === 'attention') expect(next.attention).not.toBeNull();
    // A number that was assigned is never forgotten or exchanged.
    if (before.face) expect(next.account_number).toBe(before.account_number);
    else if (facts[name].kind === 'assigned') expect(next.account_number).not.toBeNull();
  });

  test.each(Object.keys(facts) as Fact[])('and then twice: %s', (name) => {
    const once = step(before, name).next;
    expect(step(once, name)).toMatchObject({ next: once });
  });
});

test('every state is a row of the table', () => {
  const states = new Set(Object.values(rows).map(({ from }) => after(from).state));
  expect(states).toEqual(new Set(ACCOUNT_STATES));
});

test('an account whose closing is reported before its number ends the same way as one that is asked about', () => {
  const told = after([...SUBMITTED, 'closed, by message', 'assigned']);
  const asked = after([...SUBMITTED, 'assignment found closed', 'assigned']);
  expect([shown(told), told.failure?.code]).toEqual(['failed, failed!', 'closed']);
  expect([shown(asked), asked.failure?.code]).toEqual(['failed, failed!', 'closed']);
});

test('a report that the assignment is pending is no fact: the workflow asks again', () => {
  expect(factOf({ kind: 'pending' }, source)).toBeNull();
});
