import { createAccountsState, type AccountsState } from './accounts/state.js';
import type { AcquirerRecord } from './acquirer/records.js';
import { createAcquirerState, type AcquirerState } from './acquirer/state.js';
import { createIdentityState, type IdentityState } from './identity/state.js';
import { createBillState, type BillState } from './billers/state.js';
import { createIssuerState, type IssuerState } from './issuer/state.js';
import type { BankRecord } from './records.js';
import { isStale, type CallbackRecord } from './shared/callback-record.js';
import { createJournalEffects, type Effect } from './shared/journal-effects.js';
import { createTransferState, type TransferState } from './transfers/state.js';

/** The whole state of the sandbox bank. Only `apply` changes it, so a replay of the journal gives the same state. */
export type State = {
  apply(record: BankRecord): void;
  transfers: TransferState;
  issuer: IssuerState;
  acquirer: AcquirerState;
  virtualAccounts: AccountsState;
  identity: IdentityState;
  bills: BillState;
  /** Sorted by time, `seq` 1, 2, 3 … */
  effects: readonly Effect[];
  /** Callbacks that no client has accepted yet, by delivery. */
  callbacks: ReadonlyMap<number, CallbackRecord>;
  nextDelivery(): number;
  /** The number of requests under `key` that were rejected without being executed. */
  timesTurnedAway(key: string): number;
};

/** Creates an empty state. */
export function createState(): State {
  const effects = createJournalEffects();
  const transfers = createTransferState(effects);
  const issuer = createIssuerState(effects);
  const acquirer = createAcquirerState(effects);
  const virtualAccounts = createAccountsState(effects);
  const identity = createIdentityState(effects);
  const bills = createBillState(effects);
  const callbacks = new Map<number, CallbackRecord>();
  const turnedAway = new Map<string, number>();
  let deliveries = 0;

  function endCallback(delivery: number): void {
    const callback = callbacks.get(delivery);
    callbacks.delete(delivery);
    if (!callback || isStale(callback)) return;
    if ('transfer' in callback) transfers.get(callback.transfer).isNotified = true;
    if ('card' in callback) issuer.cards.get(callback.card).isNotified = true;
    if ('cardDispute' in callback) issuer.disputes.get(callback.cardDispute).isNotified = true;
    if ('funding' in callback) issuer.fundings.get(callback.funding).isNotified = true;
    if ('charge' in callback) acquirer.charges.get(callback.charge).isNotified = true;
    if ('account' in callback) virtualAccounts.accounts.get(callback.account).isNotified = true;
    if ('refund' in callback) acquirer.refunds.get(callback.refund).isNotified = true;
    if ('check' in callback) identity.get(callback.check).isNotified = true;
    if ('bill' in callback) bills.get(callback.bill).isNotified = true;
  }

  function apply(record: BankRecord): void {
    switch (record.kind) {
      case 'turned_away':
        turnedAway.set(record.reference, (turnedAway.get(record.reference) ?? 0) + 1);
        return;
      case 'callback':
        deliveries = Math.max(deliveries, record.delivery);
        callbacks.set(record.delivery, record);
        return;
      case 'callback_done':
        return endCallback(record.delivery);
      case 'cancelled':
      case 'float':
        return transfers.apply(record);
      default:
        if ('transfer' in record) transfers.apply(record);
        else if ('account' in record || 'deposit' in record) virtualAccounts.apply(record);
        else if ('check' in record) identity.apply(record);
        else if ('bill' in record) bills.apply(record);
        else if (isAcquirerRecord(record)) acquirer.apply(record);
        else issuer.apply(record);
    }
  }

  return {
    apply,
    transfers,
    issuer,
    acquirer,
    virtualAccounts,
    identity,
    bills,
    effects: effects.all,
    callbacks,
    nextDelivery: () => deliveries + 1,
    timesTurnedAway: (key) => turnedAway.get(key) ?? 0,
  };
}

const isAcquirerRecord = (record: Exclude<BankRecord, CallbackRecord>): record is AcquirerRecord =>
  'charge' in record || 'refund' in record || 'dispute' in record || 'charge_reference' in record;
