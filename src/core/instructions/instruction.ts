import type { TimelineEntry } from './timeline.js';

export type InstructionStatus = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * What every record has that a provider is told of once and asked about until it is proven how it ended: a transfer,
 * for one. Which money it moves, and by which rules it ends, is its capability's own.
 */
export type InstructionRecord = {
  _id: string;
  tenant_id: string;
  version: number;
  /** Number of events so far, which is the sequence number of the latest one; 0 before the first. */
  event_sequence: number;
  status: InstructionStatus;
  provider: string;
  /** How many times the order was allowed to leave us. The next send must name this number to get its permission. */
  submissions: number;
  /** Sends that the provider explicitly did not take. */
  rejected_submissions: number;
  polls: number;
  /** Nothing is submitted before this time; null if it may be submitted at once. */
  next_attempt_at: Date | null;
  attention: { since: Date; reason: string } | null;
  /** Until then the provider is asked on although the record was failed by hand: it may have done it all the same. */
  monitor_until: Date | null;
  /** When the sweep makes sure that a workflow drives this record; null once nothing is left to do. */
  next_check_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
};

/** After this the dispatcher starts a workflow that nobody has started. */
export const START_WITHIN_MS = 2_000;

export const isOpen = ({ status }: Pick<InstructionRecord, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

/** Whether something is left to do: an open record, an operator who is waited for, a provider that is watched. */
export const needsWorkflow = (record: InstructionRecord): boolean =>
  isOpen(record) || record.attention !== null || record.monitor_until !== null;
