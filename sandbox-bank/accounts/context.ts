import type { Journal } from '../shared/journal.js';
import type { RequestRules } from '../shared/request-handler.js';
import type { Timers } from '../shared/timers.js';
import type { AccountRecord } from './records.js';
import type { AccountsState } from './state.js';

/** Everything that the accounts' parts depend on. */
export type AccountsContext = {
  state: AccountsState;
  journal: Journal<AccountRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
};
