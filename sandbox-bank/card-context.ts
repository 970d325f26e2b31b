import type { IntakeRules } from './request-handler.js';
import type { IssuerState } from './issuer-state.js';
import type { Journal } from './journal.js';
import type { Timers } from './timers.js';

/** What everything that the issuer does is made of. */
export type CardParts = {
  state: IssuerState;
  journal: Journal;
  timers: Timers;
  rules: IntakeRules;
  sendsCallbacks: boolean;
};
