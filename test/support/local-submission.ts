import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import type { TestTenant } from './tenant.js';

/** The calls of a workflow that went through the bank's queue. */
export async function callsByQueue({ deps }: Service, workflowId: string): Promise<string[]> {
  const { workflow } = deps.temporal.client;
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Waits until a transfer has been submitted in the process of its workflow, and returns its id. */
export const submitsLocally = (service: Service, tenant: TestTenant) =>
  eventually('a worker submits locally', async () => {
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    return (await callsByQueue(service, transferWorkflowId(id))).length > 0 ? undefined : id;
  });
