import type { RequestRules } from '../request-handler.js';
import type { Journal } from '../journal.js';
import type { Timers } from '../timers.js';
import type { AcquirerState } from './state.js';

export type AcquirerContext = {
  state: AcquirerState;
  journal: Journal;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
  /** Where a browser finds the pages. */
  publicUrl: () => string;
};
