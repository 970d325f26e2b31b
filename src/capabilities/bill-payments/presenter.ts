import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import type { BillPayment } from './record.js';
import type { billPaymentResource } from './schema.js';

type Listed = Omit<BillPayment, 'timeline'>;

const instant = (at: Date | null) => at?.toISOString() ?? null;

/** The receipt of a payment that the wallet has paid. */
const presentReceipt = ({ status, receipt }: Listed, token: string | null) =>
  status === 'completed' && receipt !== null ? { token, units: receipt.units } : null;

/**
 * Presents a bill payment, in responses and in webhook events. Every field is named here, so that a new stored field never
 * reaches clients by accident. `token`: the opened token of its receipt, for an answer that is not stored.
 */
export function presentBillPayment(
  payment: Listed,
  token: string | null = null,
): z.infer<typeof billPaymentResource> {
  const { settled_amount_minor: settled } = payment;
  return {
    id: payment._id,
    reference: payment.reference,
    biller_id: payment.biller_id,
    item_id: payment.item_id,
    customer_reference: payment.customer_reference,
    customer_name: payment.customer_name,
    amount_minor: toWireAmount(payment.amount_minor),
    settled_amount_minor: settled === null ? null : toWireAmount(settled),
    fee_minor: toWireAmount(payment.fee_minor),
    total_minor: toWireAmount(payment.total_minor),
    currency: payment.currency,
    status: payment.status,
    receipt: presentReceipt(payment, token),
    metadata: payment.metadata ?? {},
    provider: payment.provider,
    failure: presentFailure(payment.failure),
    attention: presentAttention(payment.attention),
    created_at: payment.created_at.toISOString(),
    updated_at: payment.updated_at.toISOString(),
    completed_at: instant(payment.completed_at),
    reversed_at: instant(payment.reversed_at),
  };
}

/** The line of a bill payment in the list for operators. */
export const presentBillPaymentRow = (payment: BillPayment) => ({
  id: payment._id,
  tenant: payment.tenant_id,
  biller: payment.biller_id,
  status: payment.status,
  amount_minor: toWireAmount(payment.amount_minor),
  attention: payment.attention?.reason ?? null,
  created_at: payment.created_at.toISOString(),
});

/** A bill payment for operators. It never has the token. */
export const presentBillPaymentDetails = (payment: BillPayment) => ({
  ...presentBillPayment(payment),
  tenant: payment.tenant_id,
  has_token: (payment.receipt?.sealed_token ?? null) !== null,
  in_suspense: payment.in_suspense,
  submissions: payment.submissions,
});
