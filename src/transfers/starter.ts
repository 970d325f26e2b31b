import { formatMajor } from '../money.js';
import { providerQueue } from '../temporal/queues.js';
import { createRecordStarter, type PursuitStarterSettings } from '../temporal/record-starter.js';
import type { TransferInput } from './reports.js';
import { transferWorkflowId, type Transfer } from './transfer.js';

export type TransferStarter = ReturnType<typeof createTransferStarter>;

/** Starts and wakes the workflow of a transfer. */
export function createTransferStarter({ policy, ...settings }: PursuitStarterSettings) {
  return createRecordStarter<Transfer>({
    ...settings,
    workflow: 'transfer',
    workflowId: ({ _id }) => transferWorkflowId(_id),
    toStart(transfer) {
      const { _id: id, tenant, provider, reference, amount_minor: amountMinor } = transfer;
      const input: TransferInput = {
        id,
        tenant,
        provider,
        providerQueue: providerQueue(settings.taskQueue, provider),
        acceptedAtMs: transfer.created_at.getTime(),
        recipientKnown: transfer.recipient.name !== null,
        policy,
        tryHere: true,
      };
      const summary = `${transfer.currency} ${formatMajor(amountMinor)} by ${provider}`;
      return { input, tenant, provider, reference, amountMinor, summary };
    },
  });
}
