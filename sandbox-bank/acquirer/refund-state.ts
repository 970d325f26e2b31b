import type { JournalEffects } from '../shared/journal-effects.js';
import {
  addToIndex,
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';
import { refundBehaviour } from './behaviours.js';
import type { AcquirerRecord, RefundRequest } from './records.js';

/** A refund as replayed from the journal. */
export type Refund = NumberedRecord<
  RefundRequest,
  'pending' | 'refunded' | 'refused' | 'returned' | 'needs_account'
> & {
  id: string;
};

type Recorded = Extract<AcquirerRecord, { refund: number }>;

/** Holds the acquirer's refunds. Only `apply` changes them. */
export function createRefundState(effects: JournalEffects) {
  const refunds = createNumberedRecords<Refund>();
  const byName = new Map<string, Refund[]>();
  const byCharge = new Map<string, Refund[]>();

  function add(record: Extract<Recorded, { kind: 'refund_ordered' }>): void {
    const { refund: number, id, order, at } = record;
    const behaviour = refundBehaviour(order.client_reference);
    const refund: Refund = {
      number,
      id,
      order,
      behaviour,
      status: 'pending',
      ...newRecordAt(at),
    };
    refunds.add(refund);
    for (const name of new Set([id, order.merchant_note, order.client_reference])) {
      addToIndex(byName, name, refund);
    }
    addToIndex(byCharge, order.charge, refund);
  }

  return {
    all: refunds.all,
    get: refunds.get,
    /** Finds refunds by id, note or client reference. Oldest first. */
    named: (name: string): readonly Refund[] => byName.get(name) ?? [],
    ofCharge: (reference: string): readonly Refund[] => byCharge.get(reference) ?? [],
    apply(record: Recorded): void {
      if (record.kind === 'refund_ordered') return add(record);
      const refund = refunds.get(record.refund);
      refund.updatedAt = record.at;
      if (record.kind === 'refund_refused') {
        Object.assign(refund, { status: 'refused', code: record.code });
        return;
      }
      if (!('seq' in record)) {
        refund.status = record.kind === 'refund_has_account' ? 'pending' : 'needs_account';
        return;
      }
      const { seq, at } = record;
      refund.status = record.kind === 'refunded' ? 'refunded' : 'returned';
      const { merchant_note: reference, client_reference, amount_minor, currency } = refund.order;
      const about = { reference, client_reference, amount_minor, currency };
      const charge = refund.order.charge;
      effects.add({ seq, kind: record.kind, ...about, charge, session_id: null, card: null, at });
    },
  };
}
