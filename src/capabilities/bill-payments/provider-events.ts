import type { BillEvent, BillReceipt } from '../../core/providers/bill-provider.js';
import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  unknownReference,
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { BillPayment } from './record.js';
import type { Receipts } from './provider-calls.js';
import type { BillPayments } from './store.js';
import type { BillPaymentFact } from './transitions.js';

/** Applies the events of bill providers to bill payments. */
export const billPaymentEventHandler = ({
  billPayments: { store: payments, starter, receipts },
}: {
  billPayments: {
    store: Pick<BillPayments, 'find' | 'applyFact' | 'acknowledge'>;
    starter: Pick<WorkflowStarter<BillPayment>, 'notifyChangedSoon'>;
    receipts: Pick<Receipts, 'seal'>;
  };
}): ProviderEventHandler => ({
  port: 'bills',
  subjects: ['bill_payment'],
  toFacts: (event) => [toStored(event as BillEvent)],
  async apply(stored, event) {
    const { reference, state, secret } = stored;
    const payment = reference === null ? null : await payments.find(reference);
    // A provider reports its own payments only.
    if (!payment || payment.provider !== event.provider) {
      return unknownReference(state.kind === 'succeeded' || state.kind === 'reversed');
    }
    const { tenant_id: tenantId, _id: id } = payment;
    // The copy of a message has no receipt: the workflow asks the biller, whose answer has it.
    const lacksToken = state.kind === 'succeeded' && payment.gives_token && secret === null;
    if (state.kind === 'pending' || (lacksToken && isOpen(payment))) {
      await payments.acknowledge(tenantId, id);
      starter.notifyChangedSoon(payment);
      return NOTHING_TO_APPLY;
    }
    const receipt = secret && receipts.seal(id, secret as BillReceipt);
    const result = await payments.applyFact(tenantId, id, toFact(stored, event, receipt));
    starter.notifyChangedSoon(payment);
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});

/** The receipt is a secret: it is kept only until it is applied. */
const toStored = ({ reference, state }: BillEvent): NewFact => ({
  subject: 'bill_payment',
  reference,
  state: {
    kind: state.kind,
    amount_minor: 'amountMinor' in state ? state.amountMinor : null,
    code: 'code' in state ? state.code : null,
  },
  ...(state.kind === 'succeeded' && { secret: state.receipt }),
});

function toFact(
  { state }: OpenFact,
  event: ProviderEvent,
  receipt: BillPaymentFact['receipt'] = null,
): BillPaymentFact {
  const source = sourceOf(event);
  if (state.kind === 'rejected') {
    const code = (state['code'] as string | null) ?? 'provider_declined';
    return { ...source, kind: 'rejected', code };
  }
  const kind = state.kind === 'reversed' ? 'reversed' : 'succeeded';
  const amountMinor = state['amount_minor'] as bigint | null;
  return { ...source, kind, amountMinor, sessionId: null, receipt };
}
