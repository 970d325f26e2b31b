import { formatMajor } from '../../shared/money.js';
import { paymentRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
} from '../../core/supervision/workflow-starter.js';
import { chargeWorkflowId, type Charge } from './charge.js';
import { refundWorkflowId, type Refund } from '../refunds/refund.js';
import type { InstructionInput } from '../../core/instructions/workflow-contract.js';

export type ChargeStarter = ReturnType<typeof createChargeStarter>;
export type RefundStarter = ReturnType<typeof createRefundStarter>;

/** Starts and wakes the workflow of a charge. */
export const createChargeStarter = (settings: InstructionStarterSettings) =>
  createPaymentStarter<Charge>(settings, {
    workflow: 'charge',
    workflowId: chargeWorkflowId,
    summary: (amount, provider) => `${amount} via ${provider}`,
  });

/** Starts and wakes the workflow of a refund. */
export const createRefundStarter = (settings: InstructionStarterSettings) =>
  createPaymentStarter<Refund>(settings, {
    workflow: 'refund',
    workflowId: refundWorkflowId,
    summary: (amount, provider) => `refund of ${amount} via ${provider}`,
  });

function createPaymentStarter<R extends Charge | Refund>(
  { policy, ...settings }: InstructionStarterSettings,
  of: {
    workflow: 'charge' | 'refund';
    workflowId: (id: string) => string;
    summary: (amount: string, provider: string) => string;
  },
) {
  return createWorkflowStarter<R>({
    ...settings,
    workflow: of.workflow,
    workflowId: ({ _id }) => of.workflowId(_id),
    toStart(record) {
      const {
        _id: id,
        tenant_id: tenantId,
        provider,
        reference,
        amount_minor: amountMinor,
      } = record;
      const rateLimitKey = paymentRateLimitKey(provider);
      const input: InstructionInput = {
        id,
        tenantId,
        rateLimitKey,
        taskQueue: providerQueue(settings.taskQueue, rateLimitKey),
        // While an attempt waited for its day nobody was late.
        acceptedAtMs: (record.next_attempt_at ?? record.created_at).getTime(),
        policy,
      };
      const summary = of.summary(`${record.currency} ${formatMajor(amountMinor)}`, provider);
      return { input, tenantId, provider, reference, amountMinor, summary };
    },
  });
}
