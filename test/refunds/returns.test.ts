import { charges, leftOf, type Charge } from '../../src/capabilities/charges/record.js';
import { refunds, type Refund } from '../../src/capabilities/refunds/record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import type { InstructionFact } from '../../src/core/instructions/fact.js';
import { needsWorkflow } from '../../src/core/instructions/instruction.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { newId } from '../../src/shared/ids.js';
import { of, pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { balances, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, emptySnapshot } from '../support/transfers.js';

const HALF = 150_000n;
const suspended = transition(sent(pageCharge()), paid({ amountMinor: HALF, feeMinor: null })).next;
const CHARGE = suspended._id;
const RETURN = newId('refund');

const act = {
  id: 'act_1',
  actor: { operator: 'opr_1', name: 'ada', roles: [] },
  action: 'charges.return',
  target: CHARGE,
  tenantId: 'ten_a',
  reason: 'the customer asks for it',
  requestId: null,
  approval: null,
};
const order = (id = RETURN, attempt = 1): AnyMutation => ({
  kind: 'orderReturn',
  tenantId: 'ten_a',
  id,
  charge: CHARGE,
  attempt,
  act,
});
const fact = (told: object): AnyMutation => ({
  kind: 'applyRefundFact',
  tenantId: 'ten_a',
  id: RETURN,
  charge: CHARGE,
  fact: { ...byProvider, ...told } as InstructionFact,
});
const made = fact({ kind: 'succeeded', amountMinor: HALF, sessionId: 'rfnd_1' });
const refused = fact({ kind: 'rejected', code: 'refund_refused' });
const takenBack = fact({ kind: 'reversed', amountMinor: HALF, sessionId: 'rfnd_1' });
const forced = fact({ kind: 'rejected', code: 'operator', via: 'operator' });
const confirmed = fact({ kind: 'operator_confirmed', via: 'operator' });
const accepted: AnyMutation = {
  kind: 'applyChargeFact',
  tenantId: 'ten_a',
  id: CHARGE,
  of: suspended,
  fact: { ...of('operator_confirmed'), attempt: null, amountMinor: HALF } as never,
};
const refundedAtDesk: AnyMutation = {
  kind: 'recordDeskRefund',
  tenantId: 'ten_a',
  id: newId('refund'),
  charge: CHARGE,
  attempt: 1,
  providerRefundId: 'desk_1',
  amountMinor: HALF,
};

/** The charge with half its amount in suspense, after these mutations one after another. */
const after = (...mutations: AnyMutation[]) => afterFrom(suspended, ...mutations);

function afterFrom(given: Charge, ...mutations: AnyMutation[]) {
  const snapshot: Snapshot = emptySnapshot();
  snapshot.records.set(charges, given);
  snapshot.wallets.set('ten_a', emptyWallet('ten_a'));
  const { state, outcomes } = run(
    snapshot,
    mutations.map((each) => [each]),
  );
  const charge = state.records.get(charges, CHARGE) as Charge;
  const refund = state.records.get(refunds, RETURN) as Refund;
  for (const record of [charge, refund]) {
    if (record) expect(record.next_check_at !== null).toBe(needsWorkflow(record));
  }
  const books = Object.fromEntries([...balances(state)].filter(([, minor]) => minor !== 0n));
  return { charge, refund, books, outcomes };
}

const RETURNED = { suspense: -HALF, 'clearing:sandbox-bank': HALF };

describe('a payment in suspense that an operator returns', () => {
  test('is a refund of its attempt, which holds nothing in the wallet, and is ordered once', () => {
    const { charge, refund, books, outcomes } = after(order(), order(), order(newId('refund')));
    expect(refund).toMatchObject({
      status: 'pending',
      made_by: 'operator',
      amount_minor: HALF,
      provider_charge_reference: `${CHARGE}-1`,
    });
    expect(charge.suspended).toEqual([
      { attempt: 1, amount_minor: HALF, fee_minor: null, returning: RETURN },
    ]);
    expect([charge.attention, books]).toEqual([null, {}]);
    expect(outcomes.at(-1)).toEqual({ refund: null });
    expect(after(order(RETURN, 2)).refund).toBeUndefined();
  });

  test('is neither accepted nor taken for a refund of the provider’s desk meanwhile', () => {
    const { charge, books, outcomes } = after(order(), accepted, refundedAtDesk);
    expect(outcomes.slice(1)).toMatchObject([{ verdict: 'stale' }, { result: 'unknown' }]);
    expect([charge.status, books]).toEqual([suspended.status, {}]);
  });

  test('leaves suspense once, when the provider has refunded it', () => {
    const { charge, refund, books } = after(order(), made, made);
    expect(refund).toMatchObject({ status: 'completed', provider_refund_id: 'rfnd_1' });
    expect(charge).toMatchObject({
      suspended: [],
      returned_refunds: [RETURN],
      returned_attempts: [1],
      refunded_minor: 0n,
      refund_pending_minor: 0n,
      attention: null,
    });
    expect(books).toEqual(RETURNED);
  });

  test.each([
    ['the requested amount', 300_000n, 'the requested amount of a payment that is returned'],
    ['a third amount', 200_000n, 'another amount of the payment that is in suspense'],
  ])(
    'calls an operator, also after its end, if %s is reported meanwhile',
    (_what, paidMinor, why) => {
      const reported: AnyMutation = {
        kind: 'applyChargeFact',
        tenantId: 'ten_a',
        id: CHARGE,
        of: suspended,
        fact: paid({ amountMinor: paidMinor, feeMinor: null }),
      };
      const { charge, books } = after(order(), reported, made);
      expect([charge.suspended, books]).toEqual([[], RETURNED]);
      expect(charge.attention?.reason).toContain(why);
    },
  );

  test('stays in suspense and calls an operator again if the provider refuses, and may then be accepted', () => {
    const { charge, refund, books } = after(order(), refused);
    expect([refund.status, refund.failure?.code, books]).toEqual(['failed', 'refund_refused', {}]);
    expect(charge.suspended).toEqual(suspended.suspended);
    expect(charge.attention?.reason).toBe(
      'the payment in suspense was not returned to the customer',
    );
    const then = after(order(), refused, accepted);
    expect(then.charge).toMatchObject({ status: 'completed', suspended: [] });
    expect(then.books).toEqual({ suspense: -HALF, 'wallet:ten_a:available': HALF });
  });

  test('is in suspense again, with attention, if the provider takes the refund back, in any order', () => {
    for (const facts of [
      [made, takenBack],
      [takenBack, made],
      [made, takenBack, takenBack],
    ]) {
      const { charge, refund, books } = after(order(), ...facts);
      expect(refund).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
      expect(charge).toMatchObject({
        suspended: [{ attempt: 1, amount_minor: HALF }],
        returned_attempts: [],
        attention: { reason: expect.stringContaining('in suspense again') },
      });
      expect(books).toEqual({});
    }
  });

  test('leaves the provider’s fee with Bursar, once, until it is accepted after all', () => {
    const FEE = 2_250n;
    const report = paid({ amountMinor: HALF, feeMinor: FEE });
    const withFee = transition({ ...sent(pageCharge()), _id: CHARGE }, report).next;
    const told = { ...accepted, fact: report } as AnyMutation;
    const course = (...mutations: AnyMutation[]) => afterFrom(withFee, ...mutations);
    const returned = course(order(), made, told);
    expect(returned.books).toEqual(RETURNED);
    expect(returned.charge.suspense_fees).toEqual([{ attempt: 1, fee_minor: FEE }]);
    const back = course(order(), made, takenBack, told);
    expect(back.books).toEqual({});
    expect(back.charge.suspended).toMatchObject([{ amount_minor: HALF, fee_minor: FEE }]);
    const then = course(order(), made, takenBack, told, accepted, told);
    expect(then.charge).toMatchObject({ provider_fee_minor: FEE, suspense_fees: [] });
    expect(then.books).toEqual({
      suspense: -HALF,
      fees: FEE,
      'wallet:ten_a:available': HALF - FEE,
    });
  });

  test('is returned after all if the refund is proven after an operator has failed it', () => {
    const { charge, refund, books } = after(order(), forced, made);
    expect(refund).toMatchObject({ status: 'completed', in_suspense: false, attention: null });
    expect(charge).toMatchObject({ suspended: [], returned_attempts: [1], attention: null });
    expect(books).toEqual(RETURNED);
  });

  test('is owed by the tenant if it was accepted before the refund is proven, and an operator confirms that', () => {
    const late = after(order(), forced, accepted, made);
    expect(late.refund).toMatchObject({ status: 'failed', in_suspense: true });
    expect(late.books).toEqual({
      suspense: -2n * HALF,
      'clearing:sandbox-bank': HALF,
      'wallet:ten_a:available': HALF,
    });
    const paidFor = after(order(), forced, accepted, made, confirmed);
    expect(paidFor.refund).toMatchObject({ status: 'completed', in_suspense: false });
    expect(paidFor.books).toEqual(RETURNED);
  });

  test('counts on its charge once, like any refund, from its late proof until the provider takes it back', () => {
    const counts = (...told: AnyMutation[]) => {
      const { charge } = after(order(), forced, accepted, ...told);
      return [charge.refund_pending_minor, charge.refunded_minor, leftOf(charge)];
    };
    expect(counts()).toEqual([0n, 0n, HALF]);
    expect(counts(made, made)).toEqual([HALF, 0n, 0n]);
    expect(counts(made, confirmed, confirmed, made)).toEqual([0n, HALF, 0n]);
    expect(counts(made, takenBack)).toEqual([0n, 0n, HALF]);
    expect(counts(made, confirmed, takenBack, takenBack)).toEqual([0n, 0n, HALF]);
  });

  test('is credited to the wallet that paid it if the provider takes it back then', () => {
    const { charge, books } = after(order(), forced, accepted, made, confirmed, takenBack);
    expect(charge.suspended).toEqual([]);
    expect(books).toEqual({ suspense: -HALF, 'wallet:ten_a:available': HALF });
  });
});

describe('a return that is proven while another one of its payment is under way', () => {
  const SECOND = newId('refund');
  const ofSecond = (told: object) => ({ ...fact(told), id: SECOND }) as AnyMutation;
  const secondRefused = ofSecond({ kind: 'rejected', code: 'refund_refused' });
  const secondMade = ofSecond({ kind: 'succeeded', amountMinor: HALF, sessionId: 'rfnd_2' });
  const secondReversed = ofSecond({ kind: 'reversed', amountMinor: HALF, sessionId: 'rfnd_2' });
  const twice = [order(), forced, order(SECOND), made];
  const confirmedAmount = fact({ kind: 'operator_confirmed', via: 'operator', amountMinor: HALF });

  test('is booked in suspense, and an operator cannot complete it meanwhile', () => {
    const { charge, refund, books, outcomes } = after(...twice, confirmed, confirmedAmount);
    expect(refund).toMatchObject({ status: 'failed', in_suspense: true });
    expect(outcomes.slice(-2)).toMatchObject([{ verdict: 'stale' }, { verdict: 'stale' }]);
    expect(charge).toMatchObject({ suspended: [{ returning: SECOND }] });
    expect(books).toEqual(RETURNED);
  });

  test('takes the payment from suspense once the other one has failed, by an operator or the provider’s repeat', () => {
    for (const proof of [confirmed, made]) {
      const { charge, refund, books } = after(...twice, secondRefused, proof);
      expect(refund).toMatchObject({ status: 'completed', in_suspense: false, attention: null });
      expect(charge).toMatchObject({
        suspended: [],
        returned_attempts: [1],
        refunded_minor: 0n,
        refund_pending_minor: 0n,
      });
      expect(books).toEqual(RETURNED);
      const back = after(...twice, secondRefused, proof, takenBack);
      expect([back.charge.suspended.length, back.books]).toEqual([1, {}]);
    }
  });

  test('leaves nothing to accept or to return again once the other one has failed, until it is taken back', () => {
    const third = order(newId('refund'));
    const { charge, books, outcomes } = after(...twice, secondRefused, accepted, third);
    expect(outcomes.slice(-2)).toMatchObject([{ verdict: 'stale' }, { refund: null }]);
    expect(charge).toMatchObject({
      status: suspended.status,
      suspended: [{ returned_by: RETURN }],
    });
    expect(charge.attention?.reason).toContain(`returned by the refund ${RETURN}`);
    expect(books).toEqual(RETURNED);
    const back = after(...twice, secondRefused, takenBack, accepted);
    expect(back.charge).toMatchObject({ status: 'completed', suspended: [] });
    expect(back.books).toEqual({ suspense: -HALF, 'wallet:ten_a:available': HALF });
    expect(leftOf(back.charge)).toBe(HALF);
  });

  test('is not forgotten if the other one is made and then taken back, however late its own proof came', () => {
    const third = order(newId('refund'));
    for (const made2 of [
      [...twice, secondMade],
      [order(), forced, order(SECOND), secondMade, made],
    ]) {
      const { charge, books, outcomes } = after(...made2, secondReversed, accepted, third);
      expect(outcomes.slice(-2)).toMatchObject([{ verdict: 'stale' }, { refund: null }]);
      expect(charge).toMatchObject({
        status: suspended.status,
        suspended: [{ returned_by: RETURN }],
        proven_returns: [],
      });
      expect(charge.attention?.reason).toContain(`returned by the refund ${RETURN}`);
      expect(books).toEqual(RETURNED);
      const completed = after(...made2, secondReversed, confirmed);
      expect(completed.charge).toMatchObject({ suspended: [], returned_attempts: [1] });
      expect([completed.refund.status, completed.books]).toEqual(['completed', RETURNED]);
      for (const both of [
        [takenBack, secondReversed],
        [secondReversed, takenBack],
      ]) {
        const back = after(...made2, ...both, accepted);
        expect(back.charge).toMatchObject({ status: 'completed', suspended: [] });
        expect(back.books).toEqual({ suspense: -HALF, 'wallet:ten_a:available': HALF });
      }
    }
  });

  test('calls an operator for a decision once it is taken back, and says so', () => {
    const { charge } = after(...twice, secondRefused, takenBack);
    expect(charge.suspended).toEqual(suspended.suspended);
    expect(charge.attention?.reason).toBe(
      'the payment in suspense was not returned to the customer',
    );
    const meanwhile = after(...twice, takenBack).charge;
    expect(meanwhile).toMatchObject({ suspended: [{ returning: SECOND }], attention: null });
  });

  test('leaves nothing in suspense for a refund of the provider’s desk', () => {
    const { charge, books, outcomes } = after(...twice, secondRefused, refundedAtDesk);
    expect(outcomes.at(-1)).toEqual({ result: 'unknown' });
    expect(charge.suspended).toMatchObject([{ returned_by: RETURN }]);
    expect(books).toEqual(RETURNED);
  });

  test('is never the tenant’s debt if the other one was made too', () => {
    const { charge, refund, books } = after(...twice, secondMade, confirmed, confirmedAmount);
    expect(refund).toMatchObject({ status: 'failed', in_suspense: true });
    expect([charge.refunded_minor, charge.refund_pending_minor]).toEqual([0n, 0n]);
    expect(books).toEqual({ suspense: -2n * HALF, 'clearing:sandbox-bank': 2n * HALF });
  });

  test('does not count on a charge that another attempt has completed', () => {
    const paidByAnother = { ...suspended, status: 'completed', attempt: 2 } as Charge;
    const { charge, refund, books, outcomes } = afterFrom(paidByAnother, ...twice, confirmed);
    expect(refund).toMatchObject({ status: 'failed', in_suspense: true });
    expect(outcomes.at(-1)).toMatchObject({ verdict: 'stale' });
    expect([charge.refunded_minor, charge.refund_pending_minor]).toEqual([0n, 0n]);
    expect(books).toEqual(RETURNED);
  });
});

test('a late return that an operator accepts with the provider’s amount counts once', () => {
  const acceptedAmount = fact({ kind: 'operator_confirmed', via: 'operator', amountMinor: HALF });
  const { charge, refund } = after(order(), forced, accepted, acceptedAmount, made);
  expect(refund).toMatchObject({ status: 'completed', in_suspense: false });
  expect([charge.refund_pending_minor, charge.refunded_minor, leftOf(charge)]).toEqual([
    0n,
    HALF,
    0n,
  ]);
});

test('a refund of the desk that comes after an unnamed failure of its amount calls an operator, and another one does not', () => {
  const completed = transition(sent(pageCharge()), paid()).next;
  const snapshot = emptySnapshot();
  snapshot.records.set(charges, completed);
  snapshot.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor: 300_000n });
  const of = { tenantId: 'ten_a', charge: completed._id };
  const failure: AnyMutation = {
    kind: 'noteUnnamedRefusal',
    tenantId: 'ten_a',
    id: completed._id,
    event: 'pev_1',
    amountMinor: 1_000n,
  };
  const atDesk = (theirs: string, amountMinor: bigint): AnyMutation => ({
    ...of,
    kind: 'recordDeskRefund',
    id: newId('refund'),
    attempt: 1,
    providerRefundId: theirs,
    amountMinor,
  });
  const { state } = run(snapshot, [
    [failure],
    [failure],
    [atDesk('other', 2_000n)],
    [atDesk('first', 1_000n)],
    [atDesk('second', 1_000n)],
  ]);
  const reasons = Object.fromEntries(
    state.records
      .all(refunds)
      .map((refund) => [refund.provider_refund_id, refund.attention?.reason ?? null]),
  );
  expect(reasons).toEqual({
    other: null,
    first: expect.stringContaining('without naming it'),
    second: null,
  });
});
