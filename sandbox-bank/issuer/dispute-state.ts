import type { CardEventName } from '../shared/callback-record.js';
import type { CardDisputeOutcome, JournalEffects } from '../shared/journal-effects.js';
import {
  addToIndex,
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';
import { disputeBehaviour } from './behaviours.js';
import type { CardRecord, DisputeRequest } from './records.js';

/** A step of a dispute, as it is reported. */
export type DisputeReport = {
  id: string;
  kind: CardDisputeOutcome;
  amountMinor: number;
  code: string | null;
  at: number;
};

/** A dispute of a card payment as replayed from the journal. */
export type DisputeCase = NumberedRecord<
  DisputeRequest,
  'pending' | 'submitted' | 'refused' | 'won' | 'lost' | 'withdrawn'
> & {
  reports: DisputeReport[];
  /** The amount that the client has of it. */
  creditedMinor: number;
};

/** The events that report the steps. */
export const DISPUTE_EVENTS: Record<CardDisputeOutcome, CardEventName> = {
  card_disputed: 'card.dispute_submitted',
  card_dispute_refused: 'card.dispute_refused',
  card_dispute_credited: 'card.dispute_credited',
  card_dispute_credit_reversed: 'card.dispute_credit_reversed',
  card_dispute_won: 'card.dispute_won',
  card_dispute_lost: 'card.dispute_lost',
  card_dispute_withdrawn: 'card.dispute_withdrawn',
};

const STATUSES: Partial<Record<CardDisputeOutcome, DisputeCase['status']>> = {
  card_disputed: 'submitted',
  card_dispute_refused: 'refused',
  card_dispute_won: 'won',
  card_dispute_lost: 'lost',
  card_dispute_withdrawn: 'withdrawn',
};

type Recorded = Extract<CardRecord, { cardDispute: number }>;

/** Holds the disputes of card payments. Only `apply` changes them. */
export function createDisputeState(effects: JournalEffects) {
  const disputes = createNumberedRecords<DisputeCase>();
  const byReference = new Map<string, DisputeCase[]>();
  const byClientReference = new Map<string, DisputeCase[]>();

  function add({ cardDispute: number, order, at }: Extract<Recorded, { order: object }>): void {
    const behaviour = disputeBehaviour(order.client_reference);
    const own = { reports: [], creditedMinor: 0 };
    disputes.add({ number, order, behaviour, status: 'pending', ...own, ...newRecordAt(at) });
    addToIndex(byReference, order.reference, disputes.get(number));
    addToIndex(byClientReference, order.client_reference, disputes.get(number));
  }

  return {
    all: disputes.all,
    get: disputes.get,
    /** Oldest first; more than one only if the issuer does not de-duplicate. */
    withReference: (reference: string): readonly DisputeCase[] => byReference.get(reference) ?? [],
    withClientReference: (reference: string): readonly DisputeCase[] =>
      byClientReference.get(reference) ?? [],
    apply(record: Recorded): void {
      if (record.kind === 'dispute_ordered') return add(record);
      const { kind, seq, at, amount_minor: amountMinor, code } = record;
      const dispute = disputes.get(record.cardDispute);
      dispute.reports.push({ id: record.message_id, kind, amountMinor, code, at });
      dispute.status = STATUSES[kind] ?? dispute.status;
      dispute.creditedMinor = creditedAfter(dispute.creditedMinor, kind, amountMinor);
      dispute.updatedAt = at;
      const { reference, client_reference, card, currency } = dispute.order;
      const about = { reference, client_reference, card, currency, session_id: null };
      const dispute_id = record.message_id;
      effects.add({ seq, kind, ...about, amount_minor: amountMinor, message_id: dispute_id, at });
    },
  };
}

function creditedAfter(before: number, kind: CardDisputeOutcome, amountMinor: number): number {
  switch (kind) {
    case 'card_dispute_credited':
      return before + amountMinor;
    case 'card_dispute_credit_reversed':
      return Math.max(0, before - amountMinor);
    case 'card_dispute_won':
      return amountMinor;
    case 'card_dispute_lost':
    case 'card_dispute_withdrawn':
      return 0;
    case 'card_disputed':
    case 'card_dispute_refused':
      return before;
  }
}
