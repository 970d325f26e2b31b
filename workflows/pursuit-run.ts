import type { PursuitActivities, RecordRef } from '../src/pursuits/reports.js';
import type { Attention } from './attention.js';
import type { Inbox } from './operator-inbox.js';
import type { Pages } from './pursuit-pages.js';
import type { Rules, Step } from './pursuit-steps.js';

/** What is pursued: a record, what its capability's activities do for it, and its words. `Own`: facts of its own. */
export type Subject<Own = never> = Rules & {
  ref: RecordRef;
  provider: string;
  /** Attention is due so long after this as the policy says, however often the run is replaced. */
  acceptedAtMs: number;
  activities: PursuitActivities<Own>;
  /** What this run begins with. */
  firstStep(): Promise<Step<Own>>;
  /** Replaces this run by a new one of the same input. */
  startOver(): Promise<never>;
  /** By then the record ends for who waits for it, whatever it waits for. */
  deadline?: Deadline;
};

export type Deadline = {
  atMs: number;
  /** Ends the record if it is still open; false if its store does not find that it is time. */
  expire(): Promise<boolean>;
};

/** One run of it. */
export type Run<Own> = Subject<Own> & {
  attention: Attention;
  inbox: Inbox;
  pages: Pages;
  /** The one send that may go out from here has been tried. */
  triedHere: boolean;
};
