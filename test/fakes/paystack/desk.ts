import * as accounts from './accounts.js';
import * as charges from './charges.js';
import type { Context } from './context.js';
import { conclude, holderBody } from './customers.js';
import * as disputes from './disputes.js';
import * as mandates from './mandates.js';
import type { Request } from './http.js';
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
    /** Moves a refund to a status. `tell: false`: without a message. */
    moveRefund: (id: string, status: string, { tell = true } = {}): boolean => {
      const moved = refunds.moveRefund(ctx, id, status as Refund['status']);
      return tell ? reportRefund(moved) : moved !== null;
    },
    /** The customer pays a page, or confirms the charge of a saved method. */
    pay(reference: string, payment: charges.Payment = {}): boolean {
      const paid = charges.pay(ctx, reference, payment);
      if (!paid) return false;
      const { requested_amount, ...rest } = charges.transactionBody(ctx, paid);
      send('charge.success', payment.omitsRequested ? rest : { ...rest, requested_amount });
      return true;
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
    /** An assignment that was pending is decided. */
    assignAccount(id: string, status: string): boolean {
      const account = accounts.assign(ctx, id, status);
      const customer = account && ctx.customers.get(account.email);
      if (!customer) return false;
      send(`dedicatedaccount.assign.${status}`, {
        customer: holderBody(customer),
        dedicated_account:
          status === 'success' ? accounts.accountBody(ctx, account, 'message') : null,
        identification: { status: status === 'success' ? 'success' : 'failed' },
      });
      return true;
    },
    /** The validation of a customer ends. */
    concludeCheck(email: string, digits: string): boolean {
      const result = conclude(ctx, email, digits);
      if (result?.event) send(`customeridentification.${result.event}`, result.data);
      return result !== null;
    },
    /** Money arrives on an account. Returns the reference of the transaction. */
    deposit(account: string, amount: number, arrival: accounts.Arrival = {}): string {
      const made = accounts.deposit(ctx, account, amount, arrival);
      if (made.receiver?.told) send('charge.success', charges.transactionBody(ctx, made));
      return made.reference;
    },
    /** The event of a paid transaction is sent again, as Paystack's dashboard can. */
    tellAgain(reference: string): boolean {
      const made = ctx.transactions.get(reference);
      if (made) send('charge.success', charges.transactionBody(ctx, made));
      return made !== undefined;
    },
    /** The bank of an account is asked for what was not reported. False if there is no such account. */
    requery(request: Request): boolean {
      const found = accounts.requery(ctx, request);
      for (const each of found ?? []) send('charge.success', charges.transactionBody(ctx, each));
      return found !== null;
    },
    /** Somebody pays a page that was made on the dashboard. Returns the reference of the transaction. */
    payElsewhere(amount: number): string {
      const made = accounts.payElsewhere(ctx, amount);
      send('charge.success', charges.transactionBody(ctx, made));
      return made.reference;
    },
    topUp(amount: number): void {
      ctx.store.move(amount);
      ctx.store.note({ kind: 'topped_up', reference: '', amount, fee: 0 });
    },
    /** Sends any message. */
    send,
  };
}
