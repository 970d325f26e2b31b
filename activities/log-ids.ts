import { Context } from '@temporalio/activity';
import type { LogIds } from '../src/core/supervision/attention-log.js';
import type { RecordRef } from '../src/core/instructions/workflow-contract.js';

/** The ids of a log line that an activity writes about a record: the record, its tenant and the workflow. */
export function logIds({ tenantId: tenant, id: resource }: RecordRef): LogIds {
  const { workflowExecution } = Context.current().info;
  return {
    resource,
    tenant,
    ...(workflowExecution && { workflow_id: workflowExecution.workflowId }),
  };
}

/** The ids in an activity's input, as far as it is about one record. The SDK's own lines have the workflow's id. */
export function logIdsIn(input: unknown): Partial<LogIds> {
  const { id, tenantId } = (input ?? {}) as Partial<Record<keyof RecordRef, unknown>>;
  return {
    ...(typeof id === 'string' && { resource: id }),
    ...(typeof tenantId === 'string' && { tenant: tenantId }),
  };
}
