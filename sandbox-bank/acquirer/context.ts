import type { RequestRules } from '../shared/request-handler.js';
import type { Journal } from '../shared/journal.js';
import type { AcquirerRecord } from './records.js';
import type { Timers } from '../shared/timers.js';
import type { AcquirerState } from './state.js';

/** Everything that the acquirer's parts depend on. */
export type AcquirerContext = {
  state: AcquirerState;
  journal: Journal<AcquirerRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
  /** The base address of the payment pages, as a browser reaches it. */
  publicUrl: () => string;
  /** `new_reference`: the address of a page is given once. */
  pages: 'repeatable' | 'new_reference';
};
