import { isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import { accountName, BANKS } from '../shared/directory.js';
import type { Journal } from '../shared/journal.js';
import {
  createRequestHandler,
  type RequestKind,
  type RequestRules,
} from '../shared/request-handler.js';
import type { Timers } from '../shared/timers.js';
import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';
import { behaviourOf } from './behaviours.js';
import { createBillOutcomes, type BillOutcomes } from './bill-outcomes.js';
import { BILLERS, CATEGORIES, findBiller, findItem } from './catalogue.js';
import type { BillRecord, BillRequest } from './records.js';
import type { Bill, BillState } from './state.js';
import { noSuchBill, presentBill, presentBiller, presentItem, type Customer } from './wire.js';

type Parts = {
  state: BillState;
  journal: Journal<BillRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
};

/** The operations of the billers: catalogue, validation, payments. */
export type Bills = ReturnType<typeof createBills>;

/** Creates the operations of the billers. Their outcomes may be sent only after the log has been flushed. */
export function createBills(parts: Parts) {
  const { state, rules, sendsCallbacks } = parts;
  const outcomes = createBillOutcomes(parts);
  const present = (bill: Bill) => presentBill(bill, isOutcomeWithheld(bill, sendsCallbacks));

  return {
    pay: createRequestHandler(billRequestKind(parts, outcomes, present), rules),
    /** Finds the newest bill with this reference. */
    lookup(reference: string): Outcome {
      if (rules.copy.lacks(reference)) return noSuchBill();
      const newest = state.withReference(reference).at(-1);
      return newest ? answer(200, present(newest)) : noSuchBill();
    },
    categories: (): Outcome => answer(200, { categories: CATEGORIES }),
    billers: (): Outcome => answer(200, { billers: BILLERS.map(presentBiller) }),
    items(biller: string): Outcome {
      const found = findBiller(biller);
      if (!found) return errorAnswer(404, 'no_such_biller', 'there is no such biller');
      return answer(200, { items: found.items.map(presentItem) });
    },
    validate,
    setOutcome: createOutcomeSetter(state, outcomes),
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume: () => outcomes.resume(),
  };
}

/** Tells the name of a customer, always the same for one reference at one biller. */
function validate({ biller, item, customer_reference: reference }: Customer): Outcome {
  const behaviour = behaviourOf(reference);
  if (behaviour === 'enquiry_without_answer') return SILENCE;
  const [bank] = BANKS;
  if (!bank || !findItem(biller, item) || behaviour === 'no_such_account') {
    return errorAnswer(404, 'no_such_customer', 'the biller has no such customer');
  }
  return answer(200, { customer_name: accountName(`${biller}/${reference}`, bank) });
}

/** Decides a pending bill, for tests; finds it by its own or by the client's reference. */
const createOutcomeSetter =
  (state: BillState, outcomes: BillOutcomes) =>
  (reference: string, outcome: 'paid' | 'failed', amountMinor?: number): Outcome => {
    const named = state.withReference(reference);
    const candidates = named.length > 0 ? named : state.withClientReference(reference);
    const pending = candidates.filter(({ status }) => status === 'pending');
    const bill = pending.at(-1) ?? candidates.at(-1);
    if (!bill) return noSuchBill();
    if (new Set(pending.map(({ order }) => order.reference)).size > 1) {
      return errorAnswer(409, 'ambiguous', 'several bills have this client reference');
    }
    const wanted = outcome === 'paid' ? 'paid' : 'refused';
    if (bill.status === 'pending') outcomes.applyOutcome(bill, wanted, amountMinor);
    else if (bill.status !== wanted) {
      return errorAnswer(409, 'already_settled', `the bill is already ${bill.status}`);
    }
    return answer(200, presentBill(bill, false));
  };

/** Describes bills to the request handler. */
const billRequestKind = (
  { state, journal }: Parts,
  outcomes: BillOutcomes,
  present: (bill: Bill) => unknown,
): RequestKind<BillRequest, Bill> => ({
  what: 'bill',
  find: ({ reference }) => state.withReference(reference).at(-1),
  isSame: ({ order }, repeated) => isSameBill(order, repeated),
  behaviourOf: ({ customer_reference }) => behaviourOf(customer_reference),
  keyOf: ({ reference }) => `bill/${reference}`,
  accept(order, at) {
    const number = state.all.length;
    const refusal = refusalOf(order);
    const outcome: BillRecord[] = [];
    if (refusal !== null) outcome.push({ kind: 'bill_refused', bill: number, code: refusal, at });
    else if (isExecutedAtOnce(behaviourOf(order.customer_reference))) {
      outcome.push(outcomes.paid({ number, order }, at));
    }
    journal.commit([{ kind: 'bill_ordered', bill: number, order, at }, ...outcome]);
    const bill = state.get(number);
    outcomes.scheduleNextOutcome(bill);
    return bill;
  },
  present,
});

function refusalOf(order: BillRequest): string | null {
  const item = findItem(order.biller, order.item);
  const behaviour = behaviourOf(order.customer_reference);
  if (!item || behaviour === 'no_such_account') return 'no_such_customer';
  const { min_amount_minor: min, max_amount_minor: max } = item;
  if (order.amount_minor < min || order.amount_minor > max) return 'amount_not_allowed';
  return behaviour === 'refused' ? 'biller_declined' : null;
}

const isSameBill = (a: BillRequest, b: BillRequest): boolean =>
  a.amount_minor === b.amount_minor &&
  a.biller === b.biller &&
  a.item === b.item &&
  a.customer_reference === b.customer_reference;
