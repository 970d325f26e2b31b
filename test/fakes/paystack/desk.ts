import * as charges from './charges.js';
import type { Context } from './context.js';
import * as disputes from './disputes.js';
import * as mandates from './mandates.js';
import type { Messages } from './messages.js';
import type { Dispute, Refund, Transfer } from './records.js';
import * as refunds from './refunds.js';
import * as transfers from './transfers.js';

/** The acts at Paystack that need no request of ours: customers pay, banks decide, its staff acts. */
export type Desk = ReturnType<typeof createDesk>;

/** The statuses of a transfer that are reported by a message. */
const REPORTED = new Map([
  ['success', 'transfer.success'],
  ['failed', 'transfer.failed'],
  ['reversed', 'transfer.reversed'],
]);

/** Creates the desk. Each act sends the message that Paystack sends for it. */
export function createDesk(ctx: Context, messages: Pick<Messages, 'send'>) {
  const { send } = messages;

  function reportTransfer(transfer: Transfer | null): boolean {
    const event = transfer && REPORTED.get(transfer.status);
    const recipient = transfer && ctx.recipients.get(transfer.recipient);
    const isSilent = recipient?.account.endsWith('020') ?? false;
    if (transfer && event && !isSilent) send(event, transfers.transferBody(ctx, transfer, false));
    return transfer !== null;
  }

  function reportRefund(refund: Refund | null): boolean {
    if (refund) send(`refund.${refund.status}`, refunds.refundBody(ctx, refund, 'message'));
    return refund !== null;
  }

  function reportDispute(event: string, dispute: Dispute | null): Dispute | null {
    if (dispute) send(event, disputes.disputeBody(ctx, dispute));
    return dispute;
  }

  return {
    /** Moves a transfer to a status. */
    moveTransfer: (reference: string, status: string): boolean =>
      reportTransfer(transfers.moveTransfer(ctx, reference, status as Transfer['status'])),
    /** Moves a refund to a status. */
    moveRefund: (id: string, status: string): boolean =>
      reportRefund(refunds.moveRefund(ctx, id, status as Refund['status'])),
    /** The customer pays a page, or confirms the charge of a saved method. */
    pay(reference: string, payment: charges.Payment = {}): boolean {
      const paid = charges.pay(ctx, reference, payment);
      if (paid) send('charge.success', charges.transactionBody(ctx, paid));
      return paid !== null;
    },
    /** An attempt on a page is declined, which Paystack reports to nobody. */
    decline: (reference: string, response = 'Insufficient Funds'): boolean =>
      charges.decline(ctx, reference, response) !== null,
    /** A transaction gets another status, such as `reversed`, without a message. */
    setTransaction(reference: string, status: 'ongoing' | 'abandoned' | 'reversed' | 'failed') {
      const before = ctx.transactions.get(reference);
      return before ? ctx.transactions.put(reference, { ...before, status }) : null;
    },
    /** Staff refund a payment on the dashboard. */
    refundAtDesk(reference: string, amount: number): boolean {
      const transaction = ctx.transactions.get(reference);
      if (!transaction || transaction.paidAt === null) return false;
      return reportRefund(refunds.addRefund(ctx, transaction, { sum: amount, note: '' }));
    },
    openDispute: (reference: string, amount: number | null = null) =>
      reportDispute('charge.dispute.create', disputes.openDispute(ctx, reference, amount)),
    resolveDispute: (id: number, resolution: string) =>
      reportDispute('charge.dispute.resolve', disputes.resolveDispute(ctx, String(id), resolution)),
    markDispute: (id: number, status: string) => disputes.markDispute(ctx, String(id), status),
    /** The bank confirms a mandate. */
    activateMandate(reference: string): boolean {
      const mandate = mandates.activate(ctx, reference);
      if (!mandate) return false;
      const extra = { status: true, message: 'Mandate is active' };
      send('direct_debit.authorization.active', mandates.mandateBody(ctx, mandate), extra);
      return true;
    },
    topUp(amount: number): void {
      ctx.store.move(amount);
      ctx.store.note({ kind: 'topped_up', reference: '', amount, fee: 0 });
    },
    /** Sends any message. */
    send,
  };
}
