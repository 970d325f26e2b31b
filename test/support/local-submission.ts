import { transferWorkflowId } from '../../src/capabilities/transfers/transfer.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import type { TestTenant } from './tenant.js';

/** The calls of this transfer that went by the bank's queue. */
export async function callsByQueue({ deps }: Service, id: string): Promise<string[]> {
  const { workflow } = deps.temporal.client;
  const { events } = await workflow.getHandle(transferWorkflowId(id)).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Until a transfer has gone out from where its workflow runs. */
export const submitsLocally = (service: Service, tenant: TestTenant) =>
  eventually('a worker knows that it may send where it is', async () => {
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    return (await callsByQueue(service, id)).length > 0 ? undefined : true;
  });
