import type { Effects } from '../journal-effects.js';
import { addTo, createNumbered, orderedAt, type Ordered } from '../numbered-records.js';
import { refundBehaviour } from './behaviours.js';
import type { NetworkRecord, RefundOrder } from './records.js';

export type Refund = Ordered<RefundOrder, 'pending' | 'refunded' | 'refused'> & {
  id: string;
};

type Recorded = Extract<NetworkRecord, { refund: number }>;

export function createRefundState(effects: Effects) {
  const refunds = createNumbered<Refund>();
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
      ...orderedAt(at),
    };
    refunds.add(refund);
    for (const name of new Set([id, order.merchant_note, order.client_reference])) {
      addTo(byName, name, refund);
    }
    addTo(byCharge, order.charge, refund);
  }

  return {
    all: refunds.all,
    get: refunds.get,
    /** By its id, by the note, or by the client's reference. Oldest first. */
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
      const { seq, at } = record;
      refund.status = 'refunded';
      const { merchant_note: reference, client_reference, amount_minor, currency } = refund.order;
      const about = { reference, client_reference, amount_minor, currency };
      const charge = refund.order.charge;
      effects.add({ seq, kind: 'refunded', ...about, charge, session_id: null, card: null, at });
    },
  };
}
