import type { Client } from '@temporalio/client';
import type { Log } from '../../log.js';
import { formatMajor } from '../../money.js';
import type { PursuitPolicy } from '../../pursuits/reports.js';
import { paymentCalls, providerQueue } from '../../temporal/queues.js';
import { createRecordStarter } from '../../temporal/record-starter.js';
import { refundWorkflowId, type Refund } from './refund.js';
import type { RefundInput } from './reports.js';

export type RefundStarter = ReturnType<typeof createRefundStarter>;

/** Starts and wakes the workflow of a refund. */
export function createRefundStarter({
  policy,
  ...settings
}: {
  client: Client;
  taskQueue: string;
  policy: PursuitPolicy;
  log: Log;
}) {
  return createRecordStarter<Refund>({
    ...settings,
    workflow: 'refund',
    workflowId: ({ _id }) => refundWorkflowId(_id),
    toStart(refund) {
      const { _id: id, tenant, provider, reference, amount_minor: amountMinor } = refund;
      const calls = paymentCalls(provider);
      const input: RefundInput = {
        id,
        tenant,
        calls,
        queue: providerQueue(settings.taskQueue, calls),
        acceptedAtMs: refund.created_at.getTime(),
        policy,
      };
      const summary = `${refund.currency} ${formatMajor(amountMinor)} back by ${provider}`;
      return { input, tenant, provider, reference, amountMinor, summary };
    },
  });
}
