import { type AnyMutation, type AnyResult } from '../support/mutations.js';
import fc from 'fast-check';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { newCharge } from '../../src/capabilities/charges/record.js';
import { refunds, type Refund } from '../../src/capabilities/refunds/record.js';
import type { InstructionFact } from '../../src/core/instructions/fact.js';
import { isOpen, needsWorkflow } from '../../src/core/instructions/instruction.js';
import { balances, run } from '../support/decisions.js';
import { byProvider, claimOf, emptySnapshot, NOW } from '../support/transfers.js';

const CHARGED = 1_000n;
const START = 800n;
const IDS = ['ref_a', 'ref_b', 'ref_c'];
const amountOf = (id: string) => BigInt(300 * (IDS.indexOf(id) + 1));

const completed = newCharge(
  {
    tenant_id: 'ten_a',
    amount_minor: CHARGED,
    capture_mode: 'customer_action_required',
    customer: { id: 'customer-1', email: 'ada@example.com', name: null },
    payment_token_id: null,
    description: null,
    metadata: null,
    provider: 'sandbox-bank',
    dunning_days: [],
  },
  NOW,
);
const CHARGE = completed._id;

const snapshotWith = (changes: Partial<Charge> = {}, availableMinor = START): Snapshot => {
  const snapshot = emptySnapshot();
  snapshot.records.set(charges, { ...completed, status: 'completed', ...changes });
  snapshot.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor });
  return snapshot;
};

const accept = (
  id: string,
  amountMinor: bigint | null = amountOf(id),
  changes: Partial<Refund> = {},
): AnyMutation => ({
  kind: 'acceptRefund',
  tenantId: 'ten_a',
  id,
  refund: {
    _id: id,
    tenant_id: 'ten_a',
    version: 1,
    event_sequence: 0,
    status: 'pending',
    provider: 'sandbox-bank',
    reference: id,
    charge_id: CHARGE,
    charge_reference: CHARGE,
    provider_charge_reference: `${CHARGE}-1`,
    provider_charge_handle: null,
    currency: 'NGN',
    reason: null,
    provider_refund_id: null,
    made_by: 'tenant',
    failure: null,
    in_suspense: false,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    first_submitted_at: null,
    acknowledged_at: null,
    next_attempt_at: null,
    attention: null,
    monitor_until: null,
    next_check_at: NOW,
    timeline: [],
    created_at: NOW,
    updated_at: NOW,
    settled_amount_minor: null,
    completed_at: null,
    reversed_at: null,
    ...changes,
  },
  amountMinor,
  claim: null,
});
const applyFact = (id: string, fact: InstructionFact): AnyMutation => ({
  kind: 'applyRefundFact',
  tenantId: 'ten_a',
  id,
  charge: CHARGE,
  fact,
});
const factOf = (
  kind: InstructionFact['kind'],
  via: InstructionFact['via'],
  amountMinor: bigint | null,
  sessionId: string | null = 'rfnd_1',
): InstructionFact => {
  const origin = { ...byProvider, via };
  if (kind === 'rejected') return { ...origin, kind, code: 'refund_refused' };
  if (kind === 'operator_confirmed') return { ...origin, kind, amountMinor, sessionId };
  return { ...origin, kind, amountMinor, sessionId };
};

const anyMutation: fc.Arbitrary<AnyMutation> = fc.constantFrom(...IDS).chain((id) =>
  fc.oneof(
    fc
      .record({ all: fc.boolean(), sends: fc.constantFrom(0, 1) })
      .map(({ all, sends }) => accept(id, all ? null : amountOf(id), { submissions: sends })),
    fc
      .record({
        kind: fc.constantFrom<InstructionFact['kind']>(
          'succeeded',
          'rejected',
          'reversed',
          'operator_confirmed',
        ),
        via: fc.constantFrom<InstructionFact['via']>('webhook', 'poll', 'operator'),
        amount: fc.constantFrom(null, amountOf(id), amountOf(id), 1n, amountOf(id) + 1n),
        refund: fc.constantFrom(null, 'rfnd_1', 'rfnd_2'),
      })
      .map(({ kind, via, amount, refund }) => applyFact(id, factOf(kind, via, amount, refund))),
  ),
);

function problemsOf({ wallets, records }: Snapshot, sums: Map<string, bigint>): string[] {
  const problems: string[] = [];
  const check = (what: string, fine: boolean) => void (fine || problems.push(what));
  const balance = (account: string) => sums.get(account) ?? 0n;
  const wallet = wallets.get('ten_a');
  const charge = records.get(charges, CHARGE);
  const found = records.all(refunds);
  const sum = (which: (refund: Refund) => boolean) =>
    found.filter(which).reduce((total, { amount_minor: amount }) => total + amount, 0n);
  const done = sum(({ status }) => status === 'completed');
  check('wallet', wallet?.availableMinor === START + balance('wallet:ten_a:available'));
  check('wallet below zero', (wallet?.availableMinor ?? -1n) >= 0n);
  check('owed', wallet?.receivableMinor === -balance('receivable:ten_a'));
  check('held', sum(isOpen) === balance('wallet:ten_a:held'));
  const late = sum((refund) => refund.in_suspense);
  /** By how much the accepted amounts of completed refunds differ from the requested ones. */
  const settled = found
    .filter(({ status }) => status === 'completed')
    .map(({ amount_minor: amount, settled_amount_minor: other }) => (other ?? amount) - amount);
  const total = (amounts: bigint[]) => amounts.reduce((all, one) => all + one, 0n);
  const surplus = total(settled.filter((difference) => difference > 0n));
  const rest = total(settled.filter((difference) => difference < 0n));
  check('clearing', balance('clearing:sandbox-bank') === done + late + surplus + rest);
  check('suspense', balance('suspense') === -late - surplus);
  check('refunded', charge?.refunded_minor === done + rest);
  check('refunding', charge?.refund_pending_minor === sum(isOpen) + late);
  for (const refund of found) {
    check('not driven', needsWorkflow(refund) === (refund.next_check_at !== null));
  }
  return problems;
}

test('for any facts in any sequence, wallet and charge agree with the refunds', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyMutation, { maxLength: 4 }), { maxLength: 12 }), (batches) => {
      const { state } = run(snapshotWith(), batches);
      expect(problemsOf(state, balances(state))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

const paid = (id = 'ref_a', sessionId = 'rfnd_1') =>
  applyFact(id, factOf('succeeded', 'poll', amountOf(id), sessionId));
/** The same, by a report that may be older than the failure of the refund. */
const perhapsOverruled = () =>
  applyFact('ref_a', {
    ...byProvider,
    kind: 'succeeded',
    amountMinor: 300n,
    sessionId: 'rfnd_1',
    unlessFailed: true,
  });
const refused = (id = 'ref_a') => applyFact(id, factOf('rejected', 'poll', null));

const answersOf = (outcomes: AnyResult[]) =>
  outcomes.flatMap<unknown>((outcome) => {
    if (!('answer' in outcome)) return [];
    const { data, error } = JSON.parse(outcome.answer.body) as {
      data?: { amount_minor: number };
      error?: { code: string; field?: string; details?: { refundable_minor?: number } };
    };
    return data ? [data.amount_minor] : [[error?.code, error?.field, error?.details]];
  });
const after = (mutations: AnyMutation[], snapshot = snapshotWith()) => {
  const { state, outcomes } = run(
    snapshot,
    mutations.map((mutation) => [mutation]),
  );
  const steps = [...state.postings.keys()].map((id) => id.slice(id.indexOf('/') + 1));
  return {
    refund: state.records.get(refunds, 'ref_a'),
    charge: state.records.get(charges, CHARGE),
    steps,
    outcomes,
    available: state.wallets.get('ten_a')?.availableMinor,
  };
};

describe('acceptance', () => {
  test('never exceeds the remaining amount, open refunds included; without an amount it takes all of it', () => {
    const { outcomes, charge } = after([accept('ref_a'), accept('ref_b', null), accept('ref_c')], {
      ...snapshotWith({}, 2_000n),
    });
    expect(answersOf(outcomes)).toEqual([
      300,
      700,
      ['invalid_state', 'charge_reference', { status: 'completed', refundable_minor: 0 }],
    ]);
    expect(charge).toMatchObject({ refund_pending_minor: CHARGED, refunded_minor: 0n });
  });

  test('names the remaining amount if more is requested', () => {
    const { outcomes } = after([accept('ref_a'), accept('ref_b', 701n)]);
    expect(answersOf(outcomes)[1]).toEqual([
      'invalid_state',
      'amount_minor',
      { status: 'completed', refundable_minor: 700 },
    ]);
  });

  test('holds the gross amount, and refuses where the wallet has less', () => {
    const short = after([accept('ref_a')], snapshotWith({}, 299n));
    expect(answersOf(short.outcomes)).toEqual([
      ['insufficient_balance', undefined, { required: 300, available: 299 }],
    ]);
    expect([short.refund, short.charge?.refund_pending_minor]).toEqual([undefined, 0n]);
    const enough = after([accept('ref_a')], snapshotWith({}, 300n));
    expect([enough.steps, enough.available]).toEqual([['hold'], 0n]);
  });

  test.each(['pending', 'processing', 'failed'] as const)(
    'refuses a charge that is %s',
    (status) => {
      const { outcomes } = after([accept('ref_a')], snapshotWith({ status }));
      expect(answersOf(outcomes)).toEqual([['invalid_state', 'charge_reference', { status }]]);
    },
  );

  test('names the attempt that was paid, as the charge has it when it is accepted', () => {
    expect(
      after([accept('ref_a')], snapshotWith({ attempt: 3 })).refund?.provider_charge_reference,
    ).toBe(`${CHARGE}-3`);
  });

  test('a refund whose commit succeeded and whose result was lost is found again, also under its key', () => {
    const mutation = { ...accept('ref_a'), claim: claimOf('k') } as AnyMutation;
    const { outcomes, charge } = after([mutation, mutation]);
    expect(outcomes[1]).toMatchObject({ resource: 'ref_a', replayed: false });
    expect(answersOf(outcomes)).toEqual([300, 300]);
    expect(charge?.refund_pending_minor).toBe(300n);
  });
});

describe('a refund', () => {
  test('that completes is captured, and its charge counts it', () => {
    const { refund, charge, steps, available } = after([accept('ref_a'), paid(), paid()]);
    expect(refund).toMatchObject({
      status: 'completed',
      provider_refund_id: 'rfnd_1',
      next_check_at: null,
    });
    expect(charge).toMatchObject({ refund_pending_minor: 0n, refunded_minor: 300n });
    expect([steps, available]).toEqual([['hold', 'resolve'], START - 300n]);
  });

  test('that is rejected is released, and its amount can be refunded again', () => {
    const { refund, charge, available, outcomes } = after([
      accept('ref_a'),
      refused(),
      accept('ref_b', 800n),
    ]);
    expect(refund).toMatchObject({ status: 'failed', failure: { code: 'refund_refused' } });
    expect([charge?.refund_pending_minor, available]).toEqual([800n, 0n]);
    expect(answersOf(outcomes)).toEqual([300, 800]);
  });

  test('that the provider has done twice calls an operator, and is booked once', () => {
    const { refund, steps, charge } = after([accept('ref_a'), paid(), paid('ref_a', 'rfnd_2')]);
    expect(refund?.status).toBe('completed');
    expect(refund?.attention?.reason).toMatch(/twice/);
    expect([steps, charge?.refunded_minor]).toEqual([['hold', 'resolve'], 300n]);
  });

  test('of another amount than was requested moves nothing', () => {
    const { refund, steps } = after([
      accept('ref_a'),
      applyFact('ref_a', factOf('succeeded', 'poll', 1n)),
    ]);
    expect([refund?.status, refund?.attention?.reason]).toEqual([
      'pending',
      expect.stringMatching(/another amount/),
    ]);
    expect(steps).toEqual(['hold']);
  });

  test.each(['succeeded', 'reversed'] as const)(
    'that is completed and then reported as %s of another amount calls an operator, moves nothing, and is confirmed as it is booked',
    (kind) => {
      const told = [accept('ref_a'), paid(), applyFact('ref_a', factOf(kind, 'poll', 299n))];
      const confirmed = (amountMinor: bigint | null) =>
        applyFact('ref_a', factOf('operator_confirmed', 'operator', amountMinor));
      const booked = [['hold', 'resolve'], START - 300n, 300n];
      const called = after([...told, confirmed(299n)]);
      expect(called.refund?.attention?.reason).toMatch(/another amount/);
      expect([called.steps, called.available, called.charge?.refunded_minor]).toEqual(booked);
      const ended = after([...told, confirmed(null), confirmed(299n)]);
      expect(ended.refund).toMatchObject({ status: 'completed', attention: null });
      expect([ended.steps, ended.available, ended.charge?.refunded_minor]).toEqual(booked);
    },
  );

  test('that its provider has failed stays failed by a report of success that may be older', () => {
    const older = [accept('ref_a'), refused(), perhapsOverruled()];
    const { refund, charge, steps } = after(older);
    expect(refund).toMatchObject({ status: 'failed', in_suspense: false, attention: null });
    expect(charge).toMatchObject({ refund_pending_minor: 0n, refunded_minor: 0n });
    expect(steps).toEqual(['hold', 'resolve']);
    expect(after([...older, paid()]).refund).toMatchObject({ in_suspense: true });
  });

  test('that an operator has failed is in suspense by any report of success', () => {
    const byOperator = applyFact('ref_a', factOf('rejected', 'operator', null));
    const { refund } = after([
      accept('ref_a', 300n, { submissions: 1 }),
      byOperator,
      perhapsOverruled(),
    ]);
    expect(refund).toMatchObject({ status: 'failed', in_suspense: true });
  });

  test('that appears after an operator failed it reserves its part of the charge until an operator decides', () => {
    const late = [accept('ref_a'), refused(), paid()];
    const { refund, charge, steps } = after(late);
    expect(refund).toMatchObject({ status: 'failed', in_suspense: true });
    expect(charge).toMatchObject({ refund_pending_minor: 300n, refunded_minor: 0n });
    expect(steps).toEqual(['hold', 'resolve', 'suspense']);
    const confirmed = after([
      ...late,
      applyFact('ref_a', factOf('operator_confirmed', 'operator', null)),
    ]);
    expect(confirmed.refund).toMatchObject({ status: 'completed', in_suspense: false });
    expect(confirmed.charge).toMatchObject({ refund_pending_minor: 0n, refunded_minor: 300n });
    expect(confirmed.available).toBe(START - 300n);
  });
});
