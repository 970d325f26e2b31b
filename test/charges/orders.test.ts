import { auditCharges } from '../../src/capabilities/charges/audit.js';
import {
  attemptReference,
  charges,
  isUndecided,
  leftOf,
  paidMinorOf,
  suspenseFeeOf,
  type Charge,
} from '../../src/capabilities/charges/record.js';
import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import { refunds } from '../../src/capabilities/refunds/record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { newId } from '../../src/shared/ids.js';
import {
  days,
  merchantCharge,
  of,
  pageCharge,
  paid,
  refused,
  sent,
} from '../support/charge-facts.js';
import { balances, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, emptySnapshot } from '../support/transfers.js';

/** A payment as its provider has made it. A report may have the surcharge in its amount, and may not know the fee yet. */
type Payment = { amountMinor: bigint; surchargeMinor: bigint; feeMinor: bigint };
const WHOLE: Payment = { amountMinor: 300_000n, surchargeMinor: 0n, feeMinor: 14_500n };
const WITH_SURCHARGE: Payment = { ...WHOLE, surchargeMinor: 102_830n };
const HALF: Payment = { amountMinor: 150_000n, surchargeMinor: 0n, feeMinor: 2_250n };
/** A flat fee may be more than a small payment. */
const COSTLY: Payment = { ...WHOLE, feeMinor: 310_000n };
const PAYMENTS = [WHOLE, WITH_SURCHARGE, HALF, COSTLY];
const UNTIL = days(30);

/** One charge, and what happens to it in a course. The seed makes a failure repeatable. */
function newCourse(seed: number) {
  let present = seed;
  const random = () => (present = (present * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < 5; i += 1) random();
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const made = random() < 0.5 ? pageCharge() : merchantCharge();
  const { _id: id, tenant_id: tenantId } = made;
  const payments = Array.from({ length: 9 }, () => pick(PAYMENTS));
  const reported = new Set<number>();
  /** The refunds that return payments from suspense, and what their provider has said last. */
  const returns = new Map<string, string>();
  /** The attempts that were sent while a payment was in suspense. */
  const sentInDoubt: string[] = [];
  let state: Snapshot = emptySnapshot();
  state.records.set(charges, sent(made));
  state.wallets.set(tenantId, emptyWallet(tenantId));

  const charge = () => state.records.get(charges, id) as Charge;
  const commit = (mutation: object) => {
    ({ state } = run(state, [[{ tenantId, ...mutation } as AnyMutation]], UNTIL));
  };
  const tell = (fact: ChargeFact) => commit({ kind: 'applyChargeFact', id, of: charge(), fact });

  function reportPayment(attempt: number, { inFull = random() < 0.4 } = {}) {
    const { amountMinor, surchargeMinor, feeMinor } = payments[attempt - 1] as Payment;
    reported.add(attempt);
    const inOne = !inFull && random() < 0.5;
    const knowsFee = inFull || random() < 0.5;
    const fee = inOne ? feeMinor + surchargeMinor : feeMinor;
    tell(
      paid({
        attempt,
        amountMinor: inOne ? amountMinor + surchargeMinor : amountMinor,
        surchargeMinor: inOne ? 0n : surchargeMinor,
        feeMinor: knowsFee ? fee : null,
      }),
    );
  }

  const steps: Record<string, () => void> = {
    paid() {
      const { attempt, submissions } = charge();
      const submitted = submissions > 0 ? attempt : attempt - 1;
      if (submitted > 0) reportPayment(1 + Math.floor(random() * submitted));
    },
    declined() {
      const { attempt, submissions } = charge();
      const isPaid = reported.has(attempt);
      const decline = pick(['soft', 'hard']);
      if (submissions > 0 && !isPaid) tell(refused({ attempt, decline }));
    },
    cancelled: () => tell({ ...of('cancelled'), attempt: charge().attempt }),
    cancelRequested: () =>
      tell({ ...of('cancelled'), kind: 'cancel_requested', attempt: null, endsHere: true }),
    expired: () => tell({ ...of('expired'), attempt: charge().attempt }),
    pageLost: () => tell({ ...of('page_lost'), attempt: charge().attempt }),
    submitted() {
      const waiting = charge();
      if (isOpen(waiting) && waiting.submissions === 0) {
        if (waiting.suspended.length > 0) sentInDoubt.push(attemptReference(waiting));
        state.records.set(charges, sent(waiting, waiting.next_attempt_at ?? UNTIL));
      }
    },
    accepted() {
      const { suspended } = charge();
      if (suspended.length === 0) return;
      const { amount_minor: amountMinor } = pick(suspended);
      tell({ ...of('operator_confirmed'), kind: 'operator_confirmed', amountMinor });
    },
    stoodBy() {
      // The operator of this course decides about each payment before it ends the call for it.
      const { attention } = charge();
      if (attention?.reason.startsWith('a payment is still in suspense')) return;
      tell({ ...of('operator_confirmed'), attempt: null });
    },
    returnOrdered() {
      const { suspended } = charge();
      if (suspended.length === 0) return;
      const refund = newId('refund');
      commit({
        kind: 'orderReturn',
        id: refund,
        charge: id,
        attempt: pick(suspended).attempt,
        act,
      });
      if (state.records.get(refunds, refund)) returns.set(refund, 'ordered');
    },
    returnEnds() {
      const [refund, last] = pick([...returns, [null, null] as const]);
      const known = refund && state.records.get(refunds, refund);
      if (!known || last === 'rejected' || last === 'reversed') return;
      const kind = last === 'succeeded' ? 'reversed' : pick(['succeeded', 'rejected']);
      returns.set(known._id, kind);
      const told = { amountMinor: known.amount_minor, sessionId: `of ${refund}`, code: 'refused' };
      const fact = { ...byProvider, ...told, kind };
      commit({ kind: 'applyRefundFact', id: refund, charge: id, fact });
    },
    refundedAtDesk() {
      const { suspended, status, attempt } = charge();
      const open = suspended.filter(isUndecided);
      const one = open.length > 0 ? pick(open) : null;
      const most = one?.amount_minor ?? (status === 'completed' ? leftOf(charge()) : 0n);
      if (most < 2n) return;
      const amountMinor = random() < 0.5 ? most : most / 2n;
      const made = {
        attempt: one?.attempt ?? attempt,
        amountMinor,
        providerRefundId: newId('authorization'),
      };
      commit({ kind: 'recordDeskRefund', id: newId('refund'), charge: id, ...made });
    },
  };
  const act = {
    id: 'act_1',
    actor: { operator: 'opr_1', name: 'ada', roles: [] },
    action: 'charges.return',
    target: id,
    tenantId,
    reason: 'the customer asks for it',
    requestId: null,
    approval: null,
  };

  return {
    charge,
    payments,
    reported,
    sentInDoubt,
    reportPayment,
    books: () => balances(state),
    wallet: () => state.wallets.get(tenantId),
    problems: () => {
      const postings = [...state.postings.values()]
        .filter((posting) => posting.id.startsWith(`${id}/`))
        .map((posting) => ({
          _id: posting.id,
          legs: posting.legs.map(({ account, amountMinor }) => ({
            account,
            amount_minor: amountMinor,
          })),
        }));
      return auditCharges.pages[0]?.check({ records: [{ ...charge(), postings }] } as never);
    },
    step(): string {
      const name = pick(Object.keys(steps));
      steps[name]?.();
      return name;
    },
  };
}

const COURSES = 1_500;
const STEPS = 14;

const sumOf = (all: readonly bigint[]) => all.reduce((sum, each) => sum + each, 0n);

/** The money of the provider's clearing account that the charge explains: what it has credited, and what is in suspense. */
function explained({ status, suspended, refunded_minor: refunded, ...charge }: Charge): bigint {
  const credited = status === 'completed' ? paidMinorOf({ ...charge }) : 0n;
  return credited + sumOf(suspended.map(({ amount_minor: minor }) => minor)) - refunded;
}

describe('whatever happens to a charge, in any order and any number', () => {
  test('each payment is booked once, none is in suspense without attention, and nothing is sent while one is', async () => {
    for (let seed = 1; seed <= COURSES; seed += 1) {
      const course = newCourse(seed);
      const taken: string[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        taken.push(course.step());
        check(course, { seed, taken });
      }
      // The provider reports every payment once more, now with all that it knows.
      for (const attempt of course.reported) course.reportPayment(attempt, { inFull: true });
      check(course, { seed, taken });
      checkEnd(course, { seed, taken });
      expect(await course.problems()).toEqual([]);
    }
  });
});

type Course = ReturnType<typeof newCourse>;
type Way = { seed: number; taken: string[] };

function check(course: Course, way: Way): void {
  const charge = course.charge();
  const books = course.books();
  const inSuspense = sumOf(charge.suspended.map(({ amount_minor: minor }) => minor));
  const calls = charge.suspended.some(({ returning }) => returning === undefined);
  const wallet = course.wallet();
  const ofSuspense = sumOf((charge.suspense_fees ?? []).map(({ fee_minor: fee }) => fee));
  expect({
    ...way,
    fees: books.get('fees') ?? 0n,
    providerFees: books.get('provider-fees:sandbox-bank') ?? 0n,
    suspense: books.get('suspense') ?? 0n,
    clearing: books.get('clearing:sandbox-bank') ?? 0n,
    available: wallet?.availableMinor,
    owed: wallet?.receivableMinor,
    sentInDoubt: course.sentInDoubt,
    isCalled: !calls || (charge.attention !== null && charge.next_check_at !== null),
  }).toEqual({
    ...way,
    fees: -ofSuspense,
    providerFees: ofSuspense + (charge.provider_fee_minor ?? 0n),
    suspense: inSuspense,
    clearing: -explained(charge),
    available: books.get('wallet:ten_a:available') ?? 0n,
    owed: -(books.get('receivable:ten_a') ?? 0n),
    sentInDoubt: [],
    isCalled: true,
  });
}

/** Every payment that was reported is credited, in suspense, or with its customer again; and its fee is known. */
function checkEnd({ charge: read, reported, payments }: Course, way: Way): void {
  const charge = read();
  for (const attempt of reported) {
    const places = [
      charge.status === 'completed' && charge.attempt === attempt,
      charge.suspended.some((each) => each.attempt === attempt),
      charge.returned_attempts.includes(attempt),
    ].filter(Boolean).length;
    expect({ ...way, of: attemptReference({ ...charge, attempt }), places }).toMatchObject({
      places: 1,
    });
  }
  // A report of another amount than is in suspense calls an operator, and books no fee.
  for (const attempt of reported) {
    const { feeMinor, surchargeMinor } = payments[attempt - 1] as Payment;
    const isCredited = charge.status === 'completed' && charge.attempt === attempt;
    if (isCredited || surchargeMinor > 0n) continue;
    const fee = suspenseFeeOf(charge, attempt);
    expect({ ...way, attempt, fee }).toEqual({ ...way, attempt, fee: feeMinor });
  }
  if (charge.status !== 'completed') return;
  const payment = payments[charge.attempt - 1] as Payment;
  // An operator may have accepted the surcharge too, or what a refund has left: another report then calls an operator.
  const isWhole = [null, payment.amountMinor].includes(charge.settled_amount_minor);
  if (isWhole) {
    expect({ ...way, fee: charge.provider_fee_minor }).toEqual({ ...way, fee: payment.feeMinor });
  }
}
