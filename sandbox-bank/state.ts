import { behaviourOf, isReportedByCallbackOnly, type Behaviour } from './shared/behaviours.js';
import { createJournalEffects, type Effect, type JournalEffects } from './shared/journal-effects.js';
import { createIssuerState, type IssuerState } from './issuer/state.js';
import { createAcquirerState, type AcquirerState } from './acquirer/state.js';
import { addToIndex } from './shared/numbered-records.js';
import type { BankRecord, CallbackRecord, EventName, TransferRequest } from './records.js';

export type Status = 'pending' | 'paid' | 'refused' | 'reversed';

export type Transfer = {
  number: number;
  order: TransferRequest;
  behaviour: Behaviour;
  status: Status;
  sessionId: string | null;
  code: string | null;
  createdAt: number;
  updatedAt: number;
  /** A callback with the outcome was taken, or the bank has given up sending it. */
  isNotified: boolean;
};

/** All that the bank knows. It changes by `apply` alone, so that a replay of the journal gives the same state. */
export type State = {
  apply(record: BankRecord): void;
  get(number: number): Transfer;
  /** By their number. */
  transfers: readonly Transfer[];
  issuer: IssuerState;
  acquirer: AcquirerState;
  /** In the order in which they happened, `seq` 1, 2, 3 … */
  effects: readonly Effect[];
  /** Callbacks that nobody has taken yet, by their delivery. */
  callbacks: ReadonlyMap<number, CallbackRecord>;
  nextDelivery(): number;
  /** How often `key` was turned away: see `turned_away` of the records. */
  timesTurnedAway(key: string): number;
  /** Oldest first; more than one only where the bank does not de-duplicate. */
  withReference(reference: string): readonly Transfer[];
  withClientReference(reference: string): readonly Transfer[];
};

type Data = {
  transfers: Transfer[];
  issuer: IssuerState;
  acquirer: AcquirerState;
  effects: JournalEffects;
  callbacks: Map<number, CallbackRecord>;
  deliveries: number;
  turnedAway: Map<string, number>;
  byReference: Map<string, Transfer[]>;
  byClientReference: Map<string, Transfer[]>;
};

export function createState(): State {
  const effects = createJournalEffects();
  const data: Data = {
    transfers: [],
    issuer: createIssuerState(effects),
    acquirer: createAcquirerState(effects),
    effects,
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
    issuer: data.issuer,
    acquirer: data.acquirer,
    effects: effects.all,
    callbacks: data.callbacks,
    nextDelivery: () => data.deliveries + 1,
    timesTurnedAway: (key) => data.turnedAway.get(key) ?? 0,
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
      get(data, record.transfer).sessionId = record.session_id;
      return addEffect(data, record);
    case 'reversed':
      return addEffect(data, record);
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
      return 'charge' in record || 'refund' in record
        ? data.acquirer.apply(record)
        : data.issuer.apply(record);
  }
}

function get(data: Data, number: number): Transfer {
  const transfer = data.transfers[number];
  if (!transfer) throw new Error('the journal names a transfer that it does not have');
  return transfer;
}

function addTransfer(data: Data, number: number, order: TransferRequest, at: number): void {
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
    isNotified: false,
  };
  data.transfers.push(transfer);
  addToIndex(data.byReference, order.reference, transfer);
  addToIndex(data.byClientReference, order.client_reference, transfer);
}

function addEffect(data: Data, record: Extract<BankRecord, { kind: 'paid' | 'reversed' }>): void {
  const { kind, seq, at } = record;
  const transfer = get(data, record.transfer);
  const { reference, client_reference, amount_minor, currency } = transfer.order;
  const session_id = transfer.sessionId;
  const about = { reference, client_reference, amount_minor, currency, session_id, card: null };
  data.effects.add({ seq, kind, ...about, at });
  Object.assign(transfer, { status: kind, updatedAt: at });
}

function endCallback(data: Data, delivery: number): void {
  const callback = data.callbacks.get(delivery);
  data.callbacks.delete(delivery);
  if (!callback || isStale(callback)) return;
  if ('transfer' in callback) get(data, callback.transfer).isNotified = true;
  if ('card' in callback) data.issuer.cards.get(callback.card).isNotified = true;
  if ('funding' in callback) data.issuer.fundings.get(callback.funding).isNotified = true;
  if ('charge' in callback) data.acquirer.charges.get(callback.charge).isNotified = true;
  if ('refund' in callback) data.acquirer.refunds.get(callback.refund).isNotified = true;
}

const STALE = new Set<EventName>([
  'transfer.pending',
  'card.funding_pending',
  'charge.pending',
  'refund.pending',
]);

/** It tells what was before the outcome. */
export function isStale({ event }: CallbackRecord): boolean {
  return STALE.has(event);
}

/** The outcome is there, and those who ask are told pending; `sendsCallbacks` says whether there is anyone to call. */
export function isOutcomeWithheld(
  thing: { behaviour: Behaviour; isNotified: boolean },
  sendsCallbacks: boolean,
): boolean {
  return sendsCallbacks && isReportedByCallbackOnly(thing.behaviour) && !thing.isNotified;
}
