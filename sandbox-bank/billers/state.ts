import type { JournalEffects } from '../shared/journal-effects.js';
import {
  addToIndex,
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';
import { behaviourOf } from './behaviours.js';
import type { BillRecord, BillRequest, Receipt } from './records.js';

/** A bill as replayed from the journal. */
export type Bill = NumberedRecord<BillRequest, 'pending' | 'paid' | 'refused' | 'reversed'> & {
  /** The ordered amount, or the paid one. */
  amountMinor: number;
  receipt: Receipt | null;
};

/** The bills of all billers. */
export type BillState = ReturnType<typeof createBillState>;

/** Holds the bills. Only `apply` changes them, so a replay of the journal gives the same state. */
export function createBillState(effects: JournalEffects) {
  const bills = createNumberedRecords<Bill>();
  const byReference = new Map<string, Bill[]>();
  const byClientReference = new Map<string, Bill[]>();

  function add(number: number, order: BillRequest, at: number): void {
    const bill: Bill = {
      number,
      order,
      behaviour: behaviourOf(order.customer_reference),
      status: 'pending',
      amountMinor: order.amount_minor,
      receipt: null,
      ...newRecordAt(at),
    };
    bills.add(bill);
    addToIndex(byReference, order.reference, bill);
    addToIndex(byClientReference, order.client_reference, bill);
  }

  /** The journal shows effects to everybody, so the receipt is not among them. */
  function addEffect(bill: Bill, kind: 'paid' | 'reversed', seq: number, at: number): void {
    const { reference, client_reference, currency, biller } = bill.order;
    const about = { reference, client_reference, currency, biller };
    const amount_minor = bill.amountMinor;
    effects.add({ seq, kind, ...about, amount_minor, session_id: null, card: null, at });
    Object.assign(bill, { status: kind, updatedAt: at });
  }

  return {
    all: bills.all,
    get: bills.get,
    /** Oldest first; more than one only if the bank does not de-duplicate. */
    withReference: (reference: string): readonly Bill[] => byReference.get(reference) ?? [],
    /** Oldest first. */
    withClientReference: (reference: string): readonly Bill[] =>
      byClientReference.get(reference) ?? [],
    apply(record: BillRecord): void {
      if (record.kind === 'bill_ordered') return add(record.bill, record.order, record.at);
      const bill = bills.get(record.bill);
      const { at } = record;
      switch (record.kind) {
        case 'bill_paid':
          bill.amountMinor = record.amount_minor ?? bill.order.amount_minor;
          bill.receipt = record.receipt;
          return addEffect(bill, 'paid', record.seq, at);
        case 'bill_reversed':
          return addEffect(bill, 'reversed', record.seq, at);
        case 'bill_refused':
          Object.assign(bill, { status: 'refused', code: record.code, updatedAt: at });
      }
    },
  };
}
