import { formatMajor } from '../money.js';
import { paymentCalls, providerQueue } from '../temporal/queues.js';
import { createRecordStarter, type PursuitStarterSettings } from '../temporal/record-starter.js';
import { chargeWorkflowId, type Charge } from './charges/charge.js';
import { refundWorkflowId, type Refund } from './refunds/refund.js';
import type { PaymentInput } from './reports.js';

export type ChargeStarter = ReturnType<typeof createChargeStarter>;
export type RefundStarter = ReturnType<typeof createRefundStarter>;

/** Starts and wakes the workflow of a charge. */
export const createChargeStarter = (settings: PursuitStarterSettings) =>
  createPaymentStarter<Charge>(settings, {
    workflow: 'charge',
    workflowId: chargeWorkflowId,
    summary: (amount, provider) => `${amount} by ${provider}`,
  });

/** Starts and wakes the workflow of a refund. */
export const createRefundStarter = (settings: PursuitStarterSettings) =>
  createPaymentStarter<Refund>(settings, {
    workflow: 'refund',
    workflowId: refundWorkflowId,
    summary: (amount, provider) => `${amount} back by ${provider}`,
  });

function createPaymentStarter<R extends Charge | Refund>(
  { policy, ...settings }: PursuitStarterSettings,
  of: {
    workflow: 'charge' | 'refund';
    workflowId: (id: string) => string;
    summary: (amount: string, provider: string) => string;
  },
) {
  return createRecordStarter<R>({
    ...settings,
    workflow: of.workflow,
    workflowId: ({ _id }) => of.workflowId(_id),
    toStart(record) {
      const { _id: id, tenant, provider, reference, amount_minor: amountMinor } = record;
      const calls = paymentCalls(provider);
      const input: PaymentInput = {
        id,
        tenant,
        calls,
        queue: providerQueue(settings.taskQueue, calls),
        // While an attempt waited for its day nobody was late.
        acceptedAtMs: (record.next_attempt_at ?? record.created_at).getTime(),
        policy,
      };
      const summary = of.summary(`${record.currency} ${formatMajor(amountMinor)}`, provider);
      return { input, tenant, provider, reference, amountMinor, summary };
    },
  });
}
