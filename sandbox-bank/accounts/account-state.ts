import type { JournalEffects } from '../shared/journal-effects.js';
import {
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';
import { accountBehaviour } from './behaviours.js';
import type { AccountRecord, AccountRequest } from './records.js';

/** A virtual account as replayed from the journal. */
export type Account = NumberedRecord<
  AccountRequest,
  'pending' | 'assigned' | 'refused' | 'closed'
> & { accountNumber: string | null };

type Recorded = Extract<AccountRecord, { account: number }>;

/** Holds the virtual accounts. Only `apply` changes them. */
export function createAccountState(effects: JournalEffects) {
  const accounts = createNumberedRecords<Account>();
  const byReference = new Map<string, Account>();
  const byNumber = new Map<string, Account>();

  function add({ account: number, order, at }: Extract<Recorded, { kind: 'account_ordered' }>) {
    const account: Account = {
      number,
      order,
      behaviour: accountBehaviour(order.client_reference),
      status: 'pending',
      accountNumber: null,
      ...newRecordAt(at),
    };
    accounts.add(account);
    byReference.set(order.reference, account);
  }

  return {
    all: accounts.all,
    get: accounts.get,
    withReference: (reference: string) => byReference.get(reference),
    withNumber: (accountNumber: string) => byNumber.get(accountNumber),
    /** Finds an account by the client's reference, or the newest one of a customer. */
    named: (name: string) =>
      byReference.get(name) ??
      accounts.all.findLast(({ order }) => order.client_reference === name),
    apply(record: Recorded): void {
      if (record.kind === 'account_ordered') return add(record);
      const account = accounts.get(record.account);
      account.updatedAt = record.at;
      if (record.kind === 'account_refused') {
        Object.assign(account, { status: 'refused', code: record.code });
        return;
      }
      if (record.kind === 'account_opened') {
        account.accountNumber = record.account_number;
        byNumber.set(record.account_number, account);
      }
      account.status = record.kind === 'account_opened' ? 'assigned' : 'closed';
      effects.add({
        seq: record.seq,
        kind: record.kind === 'account_opened' ? 'opened' : 'closed',
        reference: account.order.reference,
        client_reference: account.order.client_reference,
        amount_minor: null,
        currency: 'NGN',
        session_id: null,
        card: null,
        at: record.at,
      });
    },
  };
}
