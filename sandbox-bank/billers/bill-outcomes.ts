import { randomInt } from 'node:crypto';
import { doneAfterMs, reversedAfterMs } from '../shared/behaviours.js';
import type { BillEventName } from '../shared/callback-record.js';
import type { Journal } from '../shared/journal.js';
import type { Timers } from '../shared/timers.js';
import { findItem } from './catalogue.js';
import type { BillRecord, BillRequest, Receipt } from './records.js';
import type { Bill, BillState } from './state.js';

/** Decides bills and reports their outcomes. */
export type BillOutcomes = ReturnType<typeof createBillOutcomes>;

/** Groups of four digits in a token. */
const TOKEN_GROUPS = 5;

/** A token as a prepaid meter takes it: twenty digits in groups of four. */
const newToken = () =>
  Array.from({ length: TOKEN_GROUPS }, () => String(randomInt(10_000)).padStart(4, '0')).join('-');

/** The receipt of a payment: a token and its units for a prepaid meter, otherwise nothing. */
function receiptOf({ biller, item }: BillRequest, amountMinor: number): Receipt {
  const unitPrice = findItem(biller, item)?.unit_price_minor ?? null;
  if (unitPrice === null) return { token: null, units: null };
  return { token: newToken(), units: `${(amountMinor / unitPrice).toFixed(1)} kWh` };
}

/** Creates the part that decides bills, now or after the time that their behaviour says. */
export function createBillOutcomes({
  state,
  journal,
  timers,
}: {
  state: BillState;
  journal: Journal<BillRecord>;
  timers: Timers;
}) {
  function commitAndNotify(bill: Bill, outcome: BillRecord, event: BillEventName): void {
    const isOutOfOrder = bill.behaviour === 'reported_out_of_order';
    journal.commitAndNotify(outcome, {
      about: { bill: bill.number },
      event,
      at: Date.now(),
      before: isOutOfOrder ? { event: 'bill.pending', at: bill.createdAt } : undefined,
    });
  }

  function paid(
    { number, order }: { number: number; order: BillRequest },
    at: number,
    amountMinor?: number,
  ): BillRecord {
    const receipt = receiptOf(order, amountMinor ?? order.amount_minor);
    const amount = amountMinor === undefined ? {} : { amount_minor: amountMinor };
    return { kind: 'bill_paid', bill: number, seq: journal.nextSeq(), ...amount, receipt, at };
  }

  function applyOutcome(bill: Bill, outcome: 'paid' | 'refused', amountMinor?: number): void {
    const at = Date.now();
    const record: BillRecord =
      outcome === 'paid'
        ? paid(bill, at, amountMinor)
        : { kind: 'bill_refused', bill: bill.number, code: 'biller_declined', at };
    commitAndNotify(bill, record, `bill.${outcome}`);
    scheduleNextOutcome(bill);
  }

  function reverse(bill: Bill): void {
    const seq = journal.nextSeq();
    const record = { kind: 'bill_reversed', bill: bill.number, seq, at: Date.now() } as const;
    commitAndNotify(bill, record, 'bill.reversed');
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(bill: Bill): void {
    const payAfterMs = bill.status === 'pending' ? doneAfterMs(bill.behaviour) : null;
    const reverseAfterMs = bill.status === 'paid' ? reversedAfterMs(bill.behaviour) : null;
    if (payAfterMs !== null) {
      timers.after(bill.createdAt + payAfterMs - Date.now(), () => {
        if (bill.status === 'pending') applyOutcome(bill, 'paid');
      });
    }
    if (reverseAfterMs !== null) {
      timers.after(bill.updatedAt + reverseAfterMs - Date.now(), () => {
        if (bill.status === 'paid') reverse(bill);
      });
    }
  }

  return {
    /** Makes the record of a payment; commit it in the same turn, because it takes the next effect number. */
    paid,
    /** Decides a pending bill, and calls back. */
    applyOutcome,
    /** Schedules the outcome that the bill's behaviour prescribes, if it has one. */
    scheduleNextOutcome,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      for (const bill of state.all) scheduleNextOutcome(bill);
    },
  };
}
