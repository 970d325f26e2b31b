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

/** The bank's fee for a transfer, which it takes from the client's balance. */
export const feeOf = ({ behaviour }: Pick<Transfer, 'behaviour'>): number =>
  behaviour === 'charged_for' ? 1_000 : 0;

/** The bank's transfers. */
export type TransferState = ReturnType<typeof createTransferState>;

const refusedBy = ({ code, at }: Extract<TransferRecord, { kind: 'refused' }>) => ({
  status: 'refused',
  code,
  updatedAt: at,
});

/** The client's balance; null is a balance without end. */
function createFloat() {
  let minor: number | null = null;
  return {
    get: () => minor,
    set: (amount: number | null): void => void (minor = amount),
    move: (amount: number): void => void (minor = minor === null ? null : minor + amount),
  };
}

/** Holds the bank's transfers. Only `apply` changes them, so a replay of the journal gives the same state. */
export function createTransferState(effects: JournalEffects) {
  const all: Transfer[] = [];
  const byReference = new Map<string, Transfer[]>();
  const cancelled = new Set<string>();
  const float = createFloat();
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
    float.move(kind === 'paid' ? -amount_minor - feeOf(transfer) : amount_minor);
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
    /** The client's balance; null is a balance without end. */
    floatMinor: float.get,
    isCancelled: (reference: string) => cancelled.has(reference),
    apply(record: TransferRecord): void {
      switch (record.kind) {
        case 'cancelled':
          cancelled.add(record.reference);
          return;
        case 'float':
          return float.set(record.amount_minor);
        case 'submitted':
          return add(record.transfer, record.order, record.at);
        case 'paid':
          get(record.transfer).sessionId = record.session_id;
          get(record.transfer).amountMinor =
            record.amount_minor ?? get(record.transfer).order.amount_minor;
          return addEffect(record);
        case 'reversed':
          return addEffect(record);
        case 'refused':
          Object.assign(get(record.transfer), refusedBy(record));
      }
    },
  };
}
