import { behaviourOf, isToldByCallbackOnly, type Behaviour } from './behaviours.js';
import type { BankRecord, CallbackRecord, Order } from './records.js';

export type Status = 'pending' | 'paid' | 'refused' | 'reversed';

export type Transfer = {
  number: number;
  order: Order;
  behaviour: Behaviour;
  status: Status;
  sessionId: string | null;
  code: string | null;
  createdAt: number;
  updatedAt: number;
  /** A callback with the outcome was taken, or the bank has given up sending it. */
  told: boolean;
};

/** An effect on money that really happened. */
export type Effect = { seq: number; kind: 'paid' | 'reversed'; transfer: Transfer; at: number };

/** All that the bank knows. It changes by `apply` alone, so that a replay of the journal gives the same state. */
export type State = {
  apply(record: BankRecord): void;
  get(number: number): Transfer;
  /** By their number. */
  transfers: readonly Transfer[];
  /** In the order in which they happened, `seq` 1, 2, 3 … */
  effects: readonly Effect[];
  /** Callbacks that nobody has taken yet, by their delivery. */
  callbacks: ReadonlyMap<number, CallbackRecord>;
  nextDelivery(): number;
  timesTurnedAway(reference: string): number;
  /** Oldest first; more than one only where the bank does not de-duplicate. */
  withReference(reference: string): readonly Transfer[];
  withClientReference(reference: string): readonly Transfer[];
};

type Data = {
  transfers: Transfer[];
  effects: Effect[];
  callbacks: Map<number, CallbackRecord>;
  deliveries: number;
  turnedAway: Map<string, number>;
  byReference: Map<string, Transfer[]>;
  byClientReference: Map<string, Transfer[]>;
};

export function createState(): State {
  const data: Data = {
    transfers: [],
    effects: [],
    callbacks: new Map(),
    deliveries: 0,
    turnedAway: new Map(),
    byReference: new Map(),
    byClientReference: new Map(),
  };
  return {
    apply: (record) => apply(data, record),
    get: (number) => get(data, number),
    transfers: data.transfers,
    effects: data.effects,
    callbacks: data.callbacks,
    nextDelivery: () => data.deliveries + 1,
    timesTurnedAway: (reference) => data.turnedAway.get(reference) ?? 0,
    withReference: (reference) => data.byReference.get(reference) ?? [],
    withClientReference: (reference) => data.byClientReference.get(reference) ?? [],
  };
}

function apply(data: Data, record: BankRecord): void {
  switch (record.kind) {
    case 'submitted':
      return addTransfer(data, record.transfer, record.order, record.at);
    case 'turned_away':
      data.turnedAway.set(record.reference, (data.turnedAway.get(record.reference) ?? 0) + 1);
      return;
    case 'paid':
      addEffect(data, record).sessionId = record.session_id;
      return;
    case 'reversed':
      addEffect(data, record);
      return;
    case 'refused': {
      const { code, at: updatedAt } = record;
      Object.assign(get(data, record.transfer), { status: 'refused', code, updatedAt });
      return;
    }
    case 'callback':
      data.deliveries = Math.max(data.deliveries, record.delivery);
      data.callbacks.set(record.delivery, record);
      return;
    case 'callback_done':
      return endCallback(data, record.delivery);
    default:
      throw new Error('the journal has an unknown kind of record');
  }
}

function get(data: Data, number: number): Transfer {
  const transfer = data.transfers[number];
  if (!transfer) throw new Error('the journal names a transfer that it does not have');
  return transfer;
}

function addTransfer(data: Data, number: number, order: Order, at: number): void {
  if (number !== data.transfers.length) throw new Error('the journal misses a transfer');
  const transfer: Transfer = {
    number,
    order,
    behaviour: behaviourOf(order.account),
    status: 'pending',
    sessionId: null,
    code: null,
    createdAt: at,
    updatedAt: at,
    told: false,
  };
  data.transfers.push(transfer);
  addTo(data.byReference, order.reference, transfer);
  addTo(data.byClientReference, order.client_reference, transfer);
}

function addEffect(data: Data, record: Extract<BankRecord, { seq: number }>): Transfer {
  const { kind, seq, at } = record;
  if (seq !== data.effects.length + 1) throw new Error('the journal misses an effect');
  const transfer = get(data, record.transfer);
  data.effects.push({ seq, kind, transfer, at });
  return Object.assign(transfer, { status: kind, updatedAt: at });
}

function endCallback(data: Data, delivery: number): void {
  const callback = data.callbacks.get(delivery);
  if (callback && callback.event !== 'transfer.pending') {
    get(data, callback.transfer).told = true;
  }
  data.callbacks.delete(delivery);
}

/** The status that the bank tells those who ask; `sendsCallbacks` says whether there is anyone to call. */
export function visibleStatus(transfer: Transfer, sendsCallbacks: boolean): Status {
  const keptQuiet = sendsCallbacks && isToldByCallbackOnly(transfer.behaviour) && !transfer.told;
  return keptQuiet ? 'pending' : transfer.status;
}

function addTo(index: Map<string, Transfer[]>, key: string, transfer: Transfer): void {
  const found = index.get(key);
  if (found) found.push(transfer);
  else index.set(key, [transfer]);
}
