import type { Log } from '../../shared/log.js';

/** The ids of a log line about a record, under the names that all such lines have. */
export type LogIds = {
  /** The id of the record. */
  resource: string;
  tenant?: string;
  workflow_id?: string;
};

/** The ids of a log line about a record, and about its workflow if it has one. */
export const logIdsOf = (
  { _id: resource, tenant_id: tenant }: { _id: string; tenant_id?: string | null },
  workflowId?: string,
): LogIds => ({
  resource,
  ...(tenant && { tenant }),
  ...(workflowId !== undefined && { workflow_id: workflowId }),
});

/** Logs that a record waits for an operator: one warning each time that attention is raised. `reason` is our own text. */
export function logAttention(log: Log, { reason, ...ids }: LogIds & { reason: string }): void {
  log.warn({ ...ids, reason }, 'attention raised');
}
