import type { Client } from '@temporalio/client';
import type { Log } from '../../log.js';
import { formatMajor } from '../../money.js';
import type { PursuitPolicy } from '../../pursuits/reports.js';
import { paymentCalls, providerQueue } from '../../temporal/queues.js';
import { createRecordStarter } from '../../temporal/record-starter.js';
import { chargeWorkflowId, type Charge } from './charge.js';
import type { ChargeInput } from './reports.js';

export type ChargeStarter = ReturnType<typeof createChargeStarter>;

/** Starts and wakes the workflow of a charge. */
export function createChargeStarter({
  policy,
  ...settings
}: {
  client: Client;
  taskQueue: string;
  policy: PursuitPolicy;
  log: Log;
}) {
  return createRecordStarter<Charge>({
    ...settings,
    workflow: 'charge',
    workflowId: ({ _id }) => chargeWorkflowId(_id),
    toStart(charge) {
      const { _id: id, tenant, provider, reference, amount_minor: amountMinor } = charge;
      const calls = paymentCalls(provider);
      const input: ChargeInput = {
        id,
        tenant,
        calls,
        queue: providerQueue(settings.taskQueue, calls),
        acceptedAtMs: charge.created_at.getTime(),
        policy,
      };
      const summary = `${charge.currency} ${formatMajor(amountMinor)} by ${provider}`;
      return { input, tenant, provider, reference, amountMinor, summary };
    },
  });
}
