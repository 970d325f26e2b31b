import type { Log } from '../../shared/log.js';

/** The ids of a log line about a record, under the names that all such lines have. */
export type LogIds = {
  /** The id of the record. */
  resource: string;
  tenant?: string;
  workflow_id?: string;
};

/** Logs that a record waits for an operator: one warning each time that attention is raised. `reason` is our own text. */
export function logAttention(log: Log, { reason, ...ids }: LogIds & { reason: string }): void {
  log.warn({ ...ids, reason }, 'attention raised');
}
