import type { Behaviour } from '../shared/behaviours.js';
import type { JournalEffects } from '../shared/journal-effects.js';
import { addToIndex } from '../shared/numbered-records.js';
import { behaviourOf } from './behaviours.js';
import type { TransferRecord, TransferRequest } from './records.js';

/** A transfer's status as shown on the wire. */
export type Status = 'pending' | 'paid' | 'refused' | 'reversed';

/** A transfer as replayed from the journal. */
export type Transfer = {
  number: number;
  order: TransferRequest;
  behaviour: Behaviour;
  status: Status;
  sessionId: string | null;
  /** The ordered amount, or the paid one. */
  amountMinor: number;
  code: string | null;
  createdAt: number;
  updatedAt: number;
  /** A callback with the outcome was accepted by the client, or the bank has stopped sending it. */
  isNotified: boolean;
};

/** The bank's transfers. */
export type TransferState = ReturnType<typeof createTransferState>;

/** Holds the bank's transfers. Only `apply` changes them, so a replay of the journal gives the same state. */
export function createTransferState(effects: JournalEffects) {
  const all: Transfer[] = [];
  const byReference = new Map<string, Transfer[]>();
  const byClientReference = new Map<string, Transfer[]>();

  function get(number: number): Transfer {
    const transfer = all[number];
    if (!transfer) throw new Error('the journal names a transfer that it does not have');
    return transfer;
  }

  function add(number: number, order: TransferRequest, at: number): void {
    if (number !== all.length) throw new Error('the journal misses a transfer');
    const transfer: Transfer = {
      number,
      order,
      behaviour: behaviourOf(order.account),
      status: 'pending',
      sessionId: null,
      amountMinor: order.amount_minor,
      code: null,
      createdAt: at,
      updatedAt: at,
      isNotified: false,
    };
    all.push(transfer);
    addToIndex(byReference, order.reference, transfer);
    addToIndex(byClientReference, order.client_reference, transfer);
  }

  function addEffect(record: Extract<TransferRecord, { kind: 'paid' | 'reversed' }>): void {
    const { kind, seq, at } = record;
    const transfer = get(record.transfer);
    const { reference, client_reference, currency } = transfer.order;
    const amount_minor = transfer.amountMinor;
    const session_id = transfer.sessionId;
    const about = { reference, client_reference, amount_minor, currency, session_id, card: null };
    effects.add({ seq, kind, ...about, at });
    Object.assign(transfer, { status: kind, updatedAt: at });
  }

  return {
    /** Sorted by number. */
    all: all as readonly Transfer[],
    get,
    /** Oldest first; more than one only if the bank does not de-duplicate. */
    withReference: (reference: string): readonly Transfer[] => byReference.get(reference) ?? [],
    /** Oldest first. */
    withClientReference: (reference: string): readonly Transfer[] =>
      byClientReference.get(reference) ?? [],
    apply(record: TransferRecord): void {
      switch (record.kind) {
        case 'submitted':
          return add(record.transfer, record.order, record.at);
        case 'paid':
          get(record.transfer).sessionId = record.session_id;
          get(record.transfer).amountMinor =
            record.amount_minor ?? get(record.transfer).order.amount_minor;
          return addEffect(record);
        case 'reversed':
          return addEffect(record);
        case 'refused': {
          const { code, at: updatedAt } = record;
          Object.assign(get(record.transfer), { status: 'refused', code, updatedAt });
        }
      }
    },
  };
}
