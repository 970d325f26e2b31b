import type { IntakeRules } from '../request-handler.js';
import type { Journal } from '../journal.js';
import type { Timers } from '../timers.js';
import type { NetworkState } from './state.js';

export type NetworkParts = {
  state: NetworkState;
  journal: Journal;
  timers: Timers;
  rules: IntakeRules;
  sendsCallbacks: boolean;
  /** Where a browser finds the pages. */
  publicUrl: () => string;
};
