import { submittedReturn, type Deposit } from '../../src/capabilities/deposits/record.js';
import { needsWorkflow } from '../../src/core/instructions/instruction.js';
import {
  AMOUNT,
  apply,
  confirmed,
  facts,
  FORCED,
  last,
  NOW,
  REFUSED,
  reported,
  RETURNING,
  source,
  submitted,
  succeeded,
  SUSPENDED,
  to,
  type Fact,
} from './facts.js';

test('an answer to a question from before a move does not end the move', () => {
  const suspended = apply(reported, confirmed);
  expect([suspended.step, suspended.next.state]).toEqual(['suspense', 'suspended']);
  const moved = apply(suspended.next, { ...source, instruction: 'confirm', kind: 'moved', to });
  expect([moved.step, moved.next.status]).toEqual(['move', 'processing']);
  for (const late of [confirmed, succeeded]) {
    expect(apply(moved.next, late)).toMatchObject({ verdict: 'unchanged', next: moved.next });
  }
  const done = { ...source, instruction: 'confirm', kind: 'move_completed' } as const;
  // A workflow that knew the deposit before the move may have called an operator: nobody could end that attention.
  for (const attention of [null, { since: NOW, reason: 'nobody has this account' }]) {
    const { step, next } = apply({ ...moved.next, attention }, done);
    expect([step, next.status, next.attention]).toEqual([null, 'completed', null]);
    expect(apply(next, done).verdict).toBe('unchanged');
  }
});

test('a deposit in another currency is shown with it and books nothing; once it is reported in naira, it is booked', () => {
  const inDollars = { ...confirmed, deposit: { ...confirmed.deposit, currency: 'USD' } };
  const told = apply({ ...reported, amount_minor: null }, inDollars);
  expect([told.step, told.verdict]).toEqual([null, 'attention']);
  expect(told.next).toMatchObject({ state: 'received', currency: 'USD', amount_minor: AMOUNT });
  expect(apply(told.next, inDollars).verdict).toBe('unchanged');
  const corrected = apply(told.next, confirmed);
  expect([corrected.step, corrected.next.currency]).toEqual(['suspense', 'NGN']);
  // A booked deposit keeps its currency and its amount.
  const doubtful = apply(corrected.next, inDollars);
  expect([doubtful.step, doubtful.next.currency]).toEqual([null, 'NGN']);
  expect(doubtful.next.attention?.reason).toBe('the deposit has another currency');
});

test('a deposit in another currency that an operator has ended calls nobody again, and is over once it is taken back', () => {
  const inDollars = { ...confirmed, deposit: { ...confirmed.deposit, currency: 'USD' } };
  const ended = apply(apply(reported, inDollars).next, facts['ended by force']).next;
  expect(ended).toMatchObject({ state: 'reversed', status: 'failed', attention: null });
  expect(apply(ended, inDollars).verdict).toBe('unchanged');
  expect(apply(ended, confirmed).step).toBe('suspense');
  const stalled = { ...ended, attention: { since: NOW, reason: 'its workflow does not progress' } };
  for (const deposit of [ended, stalled]) {
    const { next, step } = apply(deposit, facts.reversed);
    expect([next.status, next.attention, step]).toEqual(['failed', null, null]);
    expect(needsWorkflow(next)).toBe(false);
  }
});

test('a return of a deposit that the provider has taken back reverses it', () => {
  const suspended = apply(reported, confirmed).next;
  const ordered = { ...source, instruction: 'return', kind: 'return_ordered' } as const;
  const returning = apply(suspended, ordered).next;
  const reversed = { ...source, instruction: 'return', kind: 'reversed' } as const;
  const after = apply(returning, { ...reversed, amountMinor: null, sessionId: null });
  expect([after.step, after.next.state]).toEqual(['suspense-reversal', 'reversed']);
});

/** A cell: the step of money, the state after it and `!` for attention that is raised. Every other fact changes nothing. */
type Row = { from: Fact[]; owned?: boolean; cells: Partial<Record<Fact, string>> };
const rows: Record<string, Row> = {
  received: {
    from: [],
    cells: {
      confirmed: 'suspense suspended!',
      'confirmed with another amount': 'suspense suspended!',
      doubted: '- received',
      reversed: '- reversed',
      'ended by force': '- reversed',
    },
  },
  'received on an account of ours': {
    from: [],
    owned: true,
    cells: {
      confirmed: 'credit credited',
      'confirmed with another amount': 'credit credited',
      doubted: '- received',
      reversed: '- reversed',
      'ended by force': '- reversed',
    },
  },
  'received and doubted': {
    from: ['doubted'],
    owned: true,
    cells: {
      confirmed: 'credit credited',
      'confirmed with another amount': 'credit credited',
      reversed: '- reversed',
      'ended by force': '- reversed',
    },
  },
  credited: {
    from: ['confirmed'],
    owned: true,
    cells: {
      'confirmed with another amount': '- credited!',
      doubted: '- credited',
      reversed: 'reversal reversed',
    },
  },
  'credited and doubted': {
    from: ['confirmed', 'doubted'],
    owned: true,
    cells: {
      confirmed: '- credited!',
      'confirmed with another amount': '- credited!',
      'still received': '- credited!',
      reversed: 'reversal reversed',
    },
  },
  suspended: {
    from: SUSPENDED,
    cells: {
      'confirmed with another amount': '- suspended!',
      doubted: '- suspended',
      reversed: 'suspense-reversal reversed',
      'return ordered': '- suspended',
      assigned: 'assign credited',
      moved: 'move reversed',
    },
  },
  'suspended and doubted': {
    from: [...SUSPENDED, 'doubted'],
    cells: {
      confirmed: '- suspended!',
      'confirmed with another amount': '- suspended!',
      'still received': '- suspended!',
      reversed: 'suspense-reversal reversed',
      'return ordered': '- suspended',
      assigned: 'assign credited',
      moved: 'move reversed',
    },
  },
  'assigned while the provider is asked whether it was reversed': {
    from: [...SUSPENDED, 'doubted', 'assigned'],
    cells: {
      confirmed: '- credited!',
      'confirmed with another amount': '- credited!',
      'still received': '- credited!',
      reversed: 'reversal reversed',
      // The attention ends, and the question goes on.
      'confirmed by an operator': '- credited',
    },
  },
  'with a return that is not submitted yet': {
    from: [...SUSPENDED, 'return ordered'],
    cells: {
      'confirmed with another amount': '- suspended!',
      reversed: 'suspense-reversal reversed',
      'return proven': 'return returned',
      'return of another amount': '- suspended!',
      'return refused': '- suspended!',
      'return ended by force': '- suspended!',
      'return reversed': 'suspense-reversal reversed',
    },
  },
  'with a return that was submitted': {
    from: RETURNING,
    cells: {
      'confirmed with another amount': '- suspended!',
      reversed: 'suspense-reversal reversed',
      'return proven': 'return returned',
      'return of another amount': '- suspended!',
      'return refused': '- suspended!',
      'return ended by force': '- suspended!',
      'return reversed': 'suspense-reversal reversed',
    },
  },
  'with a return of another amount': {
    from: [...RETURNING, 'return of another amount'],
    cells: {
      'confirmed with another amount': '- suspended!',
      reversed: 'suspense-reversal reversed',
      'return proven': 'return returned',
      'other amount accepted': 'return returned',
      'return refused': '- suspended!',
      'return ended by force': '- suspended!',
      'return reversed': 'suspense-reversal reversed',
    },
  },
  'with a return that its provider has refused': {
    from: REFUSED,
    cells: {
      'confirmed with another amount': '- suspended!',
      doubted: '- suspended',
      reversed: 'suspense-reversal reversed',
      'return ordered': '- suspended',
      assigned: 'assign credited',
      moved: 'move reversed',
      'return proven': 'return returned',
      'return of another amount': '- suspended!',
      'return reversed': 'suspense-reversal reversed',
    },
  },
  'with a return that was ended by force': {
    from: FORCED,
    cells: {
      'confirmed with another amount': '- suspended!',
      doubted: '- suspended',
      reversed: 'suspense-reversal reversed',
      'return ordered': '- suspended',
      'return proven': 'return returned',
      'return of another amount': '- suspended!',
      'return refused': '- suspended',
      'return reversed': 'suspense-reversal reversed',
    },
  },
  'with a return that was ended by force, and doubted': {
    from: [...FORCED, 'doubted'],
    cells: {
      confirmed: '- suspended!',
      'confirmed with another amount': '- suspended!',
      'still received': '- suspended!',
      reversed: 'suspense-reversal reversed',
      'return ordered': '- suspended',
      'return proven': 'return returned',
      'return of another amount': '- suspended!',
    },
  },
  'assigned after a refused return': {
    from: [...REFUSED, 'assigned'],
    cells: {
      'confirmed with another amount': '- credited!',
      doubted: '- credited',
      reversed: 'reversal reversed',
      'return proven': '- credited!',
      'return of another amount': '- credited!',
    },
  },
  'moved after a refused return': {
    from: [...REFUSED, 'moved'],
    cells: {
      'confirmed with another amount': '- reversed!',
      'move completed': '- reversed',
      'return proven': '- reversed!',
      'return of another amount': '- reversed!',
    },
  },
  returned: {
    from: [...RETURNING, 'return proven'],
    cells: {
      'confirmed with another amount': '- returned!',
      reversed: '- returned!',
    },
  },
  reversed: {
    from: ['confirmed', 'reversed'],
    owned: true,
    cells: { 'confirmed with another amount': '- reversed!' },
  },
  'ended by force': {
    from: ['ended by force'],
    owned: true,
    cells: {
      confirmed: 'credit credited',
      'confirmed with another amount': 'credit credited',
      // Nothing is awaited any more.
      reversed: '- reversed',
    },
  },
};

describe.each(Object.entries(rows))('a deposit that is %s', (_, { from, owned = false, cells }) => {
  test.each(Object.keys(facts) as (keyof typeof facts)[])('and then: %s', (name) => {
    const before = from.length === 0 ? null : last(from, { owned });
    const { verdict, next, step } = last([...from, name], { owned });
    const isChanged = verdict === 'applied' || verdict === 'attention';
    const cell = `${step ?? '-'} ${next.state}${verdict === 'attention' ? '!' : ''}`;
    expect(isChanged ? cell : undefined).toBe(cells[name]);
    if (!isChanged) expect([step, next.version]).toEqual([null, before?.next.version ?? 1]);
    expect(next.attention !== null || verdict !== 'attention').toBe(true);
  });
});

test.each([
  ['credited', true, 'reversal'],
  ['suspended', false, 'suspense-reversal'],
])(
  'a deposit whose reversal is reported during its first confirmation is %s, and asked about once more',
  (state, owned, step) => {
    const booked = last(['doubted', 'confirmed'], { owned }).next;
    expect([booked.state, booked.instruction, booked.status]).toEqual([
      state,
      'confirm',
      'processing',
    ]);
    expect(last(['doubted', 'confirmed', 'reversed'], { owned }).step).toBe(step);
  },
);

test('a deposit that is assigned while the provider is asked about it stays open until the answer', () => {
  const reason = 'assigned while the provider is asked whether it was reversed';
  const asked = last([...SUSPENDED, 'doubted', 'assigned']).next;
  expect(asked).toMatchObject({ status: 'processing', attention: { reason } });
  expect(last([...SUSPENDED, 'doubted', 'assigned', 'reversed']).next.attention).toBeNull();
  const assigned = last([...SUSPENDED, 'assigned']).next;
  expect(assigned).toMatchObject({ status: 'completed', attention: null });
});

test('attention of a deposit in suspense says why it is there, and that a message speaks of a reversal', () => {
  const why = last(SUSPENDED).next.attention?.reason;
  const once = last([...SUSPENDED, 'doubted', 'confirmed']).next.attention?.reason;
  const twice = last([...SUSPENDED, 'doubted', 'confirmed', 'doubted', 'confirmed']).next;
  expect(once).toBe(`${why}; a message says that it was reversed, and the provider still has it`);
  expect(twice.attention?.reason).toBe(once);
});

describe('a return that was ended by force', () => {
  test('leaves the money to nobody, also after the deposit was doubted, until its provider refuses it', () => {
    for (const between of [[], ['doubted'], ['doubted', 'still received']] satisfies Fact[][]) {
      for (const act of ['assigned', 'moved'] satisfies Fact[]) {
        expect(last([...FORCED, ...between, act])).toMatchObject({ verdict: 'stale', step: null });
      }
    }
    const refused = [...FORCED, 'return refused'] satisfies Fact[];
    expect(last([...refused, 'assigned']).step).toBe('assign');
    expect(last(refused).next).toMatchObject({ monitor_until: null });
  });

  test('is monitored, and one that was never submitted is over at once', () => {
    expect(last(FORCED).next.monitor_until).not.toBeNull();
    const unsent = [...SUSPENDED, 'return ordered', 'return ended by force'] satisfies Fact[];
    expect(last(unsent).next.monitor_until).toBeNull();
    expect(last([...unsent, 'assigned']).step).toBe('assign');
  });

  test('may be ordered again, which keeps the time of its first submission', () => {
    const later = new Date(NOW.getTime() + 1_000);
    const again = last([...FORCED, 'return ordered']).next;
    const sent = { ...submitted(again), first_submitted_at: later };
    expect(submittedReturn(sent)).toEqual({ submitted_at: NOW, refused: false });
    const unsent = last([...FORCED, 'return ordered', 'return ended by force', 'assigned']);
    expect(unsent.verdict).toBe('stale');
  });

  test('and proven after the money was given away calls an operator, who confirms it once', () => {
    for (const [act, word] of [
      ['assigned', 'credited'],
      ['moved', 'moved to another tenant'],
    ] as const) {
      const proven = [...REFUSED, act, 'return proven'] satisfies Fact[];
      const reason = `returned by the provider after it was ${word}`;
      expect(last(proven).next.attention).toMatchObject({ reason });
      expect(last([...proven, 'return proven']).verdict).toBe('unchanged');
    }
    const seen = last([...REFUSED, 'assigned', 'return proven', 'return confirmed by an operator']);
    expect([seen.step, seen.next.state, seen.next.attention]).toEqual([null, 'credited', null]);
  });
});

describe('attention of a deposit whose money is decided', () => {
  const acknowledge = (deposit: Deposit, reason = deposit.attention?.reason ?? '') =>
    apply(deposit, {
      ...source,
      via: 'operator',
      instruction: 'confirm',
      kind: 'acknowledged',
      reason,
    });
  const owes = { since: NOW, reason: 'the wallet could not cover this reversal' };
  const returned = [...RETURNING, 'return proven'] satisfies Fact[];

  test.each([
    ['reversed', { ...last(['confirmed', 'reversed'], { owned: true }).next, attention: owes }],
    ['returned', last([...returned, 'reversed']).next],
    ['credited', last([...REFUSED, 'assigned', 'return proven']).next],
  ])('of one that is %s is ended by an operator, and no money moves', (state, deposit) => {
    const { verdict, next, step } = acknowledge(deposit);
    expect([verdict, next.state, next.attention, step]).toEqual(['applied', state, null, null]);
    expect(needsWorkflow(next)).toBe(false);
    expect(acknowledge(next).verdict).toBe('stale');
    expect(acknowledge(deposit, 'another reason').verdict).toBe('stale');
  });

  test('does not come back with the next report of the same contradiction', () => {
    const seen = acknowledge(last([...returned, 'reversed']).next).next;
    expect(apply(seen, facts.reversed).verdict).toBe('unchanged');
    expect(apply(seen, facts['confirmed with another amount']).verdict).toBe('attention');
  });

  test('of one that was returned is ended by an operator whom the provider confirms the return', () => {
    const reversed = last([...returned, 'reversed']).next;
    const { next, step } = apply(reversed, facts['return confirmed by an operator']);
    expect([next.state, next.attention, step]).toEqual(['returned', null, null]);
  });

  test('stays while money is in suspense or the provider is asked', () => {
    for (const names of [SUSPENDED, [...SUSPENDED, 'doubted', 'assigned']] satisfies Fact[][]) {
      expect(acknowledge(last(names).next)).toMatchObject({ verdict: 'stale', step: null });
    }
  });
});

test("the sender's name and narration are stored without invisible characters, and with * for the digits of a card number", () => {
  const sender = { name: 'Ada\u202e\u0000 Obi', account: '0123456789', bank: 'Access Bank' };
  const narration = 'card 4111\u200c1111\u200c1111\u200c1111';
  const deposit = { ...confirmed.deposit, sender, narration };
  expect(apply(reported, { ...confirmed, deposit }).next).toMatchObject({
    sender: { name: 'Ada Obi', account: '******6789', bank: 'Access Bank' },
    narration: 'card ****\u200c****\u200c****\u200c****',
  });
});
