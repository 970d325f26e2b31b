import type { RequestRules } from './request-handler.js';
import type { IssuerState } from './issuer-state.js';
import type { Journal } from './journal.js';
import type { Timers } from './timers.js';

/** What everything that the issuer does is made of. */
export type CardContext = {
  state: IssuerState;
  journal: Journal;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
};
