import type { JournalEffects } from '../shared/journal-effects.js';
import { createAccountState } from './account-state.js';
import { createDepositState } from './deposit-state.js';
import type { AccountRecord } from './records.js';

/** The virtual accounts and their deposits. */
export type AccountsState = ReturnType<typeof createAccountsState>;

/** Holds accounts and deposits. Only `apply` changes them, so a replay of the journal gives the same state. */
export function createAccountsState(effects: JournalEffects) {
  const accounts = createAccountState(effects);
  const deposits = createDepositState(effects);
  return {
    accounts,
    deposits,
    apply(record: AccountRecord): void {
      if ('deposit' in record) deposits.apply(record);
      else accounts.apply(record);
    },
  };
}
