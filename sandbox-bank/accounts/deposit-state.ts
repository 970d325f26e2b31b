import type { EffectKind, JournalEffects } from '../shared/journal-effects.js';
import { createNumberedRecords } from '../shared/numbered-records.js';
import { depositBehaviour, FOUND_AFTER_MS, type DepositBehaviour } from './behaviours.js';
import type { AccountRecord, DepositOrder, ReturnRequest } from './records.js';

/** A deposit as replayed from the journal. */
export type Deposit = {
  number: number;
  id: string;
  accountNumber: string;
  order: DepositOrder;
  behaviour: DepositBehaviour;
  status: 'received' | 'reversed';
  /** A request of the client has made the network report it. */
  isReported: boolean;
  returns: { order: ReturnRequest; status: 'returned' | 'refused' }[];
  receivedAt: number;
};

type Recorded = Extract<AccountRecord, { deposit: number }>;

/** Holds the deposits. Only `apply` changes them. */
export function createDepositState(effects: JournalEffects) {
  const deposits = createNumberedRecords<Deposit>();
  const byId = new Map<string, Deposit>();
  const bySession = new Map<string, Deposit>();

  function add(record: Extract<Recorded, { kind: 'deposit_received' }>): void {
    const { deposit: number, id, account_number: accountNumber, order, seq, at } = record;
    const deposit: Deposit = {
      number,
      id,
      accountNumber,
      order,
      behaviour: depositBehaviour(order.sender_name),
      status: 'received',
      isReported: false,
      returns: [],
      receivedAt: at,
    };
    deposits.add(deposit);
    byId.set(id, deposit);
    bySession.set(order.session_id, deposit);
    if (seq !== null) addEffect(deposit, 'received', { seq, at });
  }

  function addEffect(
    { id, order, accountNumber }: Deposit,
    kind: EffectKind,
    { seq, at }: { seq: number; at: number },
  ): void {
    effects.add({
      seq,
      kind,
      reference: id,
      client_reference: accountNumber,
      amount_minor: order.amount_minor,
      currency: order.currency,
      session_id: order.session_id,
      card: null,
      at,
    });
  }

  return {
    all: deposits.all,
    get: deposits.get,
    withId: (id: string) => byId.get(id),
    withSession: (session: string) => bySession.get(session),
    apply(record: Recorded): void {
      if (record.kind === 'deposit_received') return add(record);
      const deposit = deposits.get(record.deposit);
      switch (record.kind) {
        case 'deposit_reported':
          deposit.isReported = true;
          return;
        case 'deposit_reversed':
          deposit.status = 'reversed';
          return addEffect(deposit, 'deposit_reversed', record);
        case 'deposit_returned':
          deposit.returns.push({ order: record.order, status: 'returned' });
          return addEffect(deposit, 'deposit_returned', record);
        case 'deposit_return_refused':
          deposit.returns.push({ order: record.order, status: 'refused' });
      }
    },
  };
}

/** True if a client that asks for this deposit by its id finds it now. */
export function isFound({ behaviour, receivedAt }: Deposit, now: number): boolean {
  if (behaviour === 'event_only') return false;
  return behaviour !== 'found_later' || now - receivedAt >= FOUND_AFTER_MS;
}

/** True if the list of deposits has this one now. */
export const isListed = (deposit: Deposit, now: number): boolean =>
  deposit.status === 'received' &&
  isFound(deposit, now) &&
  (deposit.behaviour !== 'by_requery_only' || deposit.isReported);
