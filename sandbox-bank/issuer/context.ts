import type { RequestRules } from '../shared/request-handler.js';
import type { IssuerState } from './state.js';
import type { Journal } from '../shared/journal.js';
import type { CardRecord } from './records.js';
import type { Timers } from '../shared/timers.js';

/** What everything that the issuer does is made of. */
export type CardContext = {
  state: IssuerState;
  journal: Journal<CardRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
};
