import type { JournalEffects } from '../shared/journal-effects.js';
import { addToIndex } from '../shared/numbered-records.js';
import type { AcquirerRecord } from './records.js';

/** A dispute as replayed from the journal. */
export type Dispute = {
  number: number;
  id: string;
  /** The client's reference of the charge. */
  charge: string;
  clientReference: string;
  amountMinor: number;
  funds: 'held' | 'taken';
  status: 'opened' | 'won' | 'lost';
  createdAt: number;
  updatedAt: number;
};

type Recorded = Extract<AcquirerRecord, { dispute: number }>;

/** Holds the disputes of charges. Only `apply` changes them. */
export function createDisputeState(effects: JournalEffects) {
  const all: Dispute[] = [];
  const byCharge = new Map<string, Dispute[]>();

  function get(number: number): Dispute {
    const found = all[number];
    if (!found) throw new Error('the journal names a dispute that it does not have');
    return found;
  }

  function add(record: Extract<Recorded, { kind: 'disputed' }>): Dispute {
    if (record.dispute !== all.length) throw new Error('the journal misses a dispute');
    const dispute: Dispute = {
      number: record.dispute,
      id: record.id,
      charge: record.of,
      clientReference: record.client_reference,
      amountMinor: record.amount_minor,
      funds: record.funds,
      status: 'opened',
      createdAt: record.at,
      updatedAt: record.at,
    };
    all.push(dispute);
    addToIndex(byCharge, record.of, dispute);
    return dispute;
  }

  return {
    all: all as readonly Dispute[],
    get,
    ofCharge: (reference: string): readonly Dispute[] => byCharge.get(reference) ?? [],
    apply(record: Recorded): void {
      const dispute = record.kind === 'disputed' ? add(record) : get(record.dispute);
      if (record.kind !== 'disputed') {
        dispute.status = record.kind === 'dispute_won' ? 'won' : 'lost';
        dispute.updatedAt = record.at;
      }
      effects.add({
        seq: record.seq,
        kind: record.kind,
        reference: dispute.charge,
        client_reference: dispute.clientReference,
        amount_minor: dispute.amountMinor,
        currency: 'NGN',
        dispute: dispute.id,
        funds: dispute.funds,
        session_id: null,
        card: null,
        at: record.at,
      });
    },
  };
}
