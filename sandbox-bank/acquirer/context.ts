import type { RequestRules } from '../shared/request-handler.js';
import type { Journal } from '../shared/journal.js';
import type { AcquirerRecord } from './records.js';
import type { Timers } from '../shared/timers.js';
import type { AcquirerState } from './state.js';

export type AcquirerContext = {
  state: AcquirerState;
  journal: Journal<AcquirerRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
  /** Where a browser finds the pages. */
  publicUrl: () => string;
};
