import { done, page, refused, type Answer } from './answers.js';
import type { Context } from './context.js';
import type { Request } from './http.js';
import type { Dispute } from './records.js';
import { addRefund, transactionOf } from './refunds.js';
import { within } from './transfers.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A customer disputes a payment. Null if there is no such payment. */
export function openDispute(
  ctx: Context,
  reference: string,
  amount: number | null,
): Dispute | null {
  const transaction = ctx.transactions.get(reference);
  if (!transaction || transaction.paidAt === null) return null;
  const dispute: Dispute = {
    id: ctx.id('dispute'),
    transaction: transaction.id,
    amount,
    status: 'awaiting-merchant-feedback',
    resolution: null,
    dueAt: new Date(Date.now() + DAY_MS).toISOString(),
    createdAt: ctx.now(),
  };
  return ctx.disputes.put(String(dispute.id), dispute);
}

/** Ends a dispute, or ends it otherwise than before. A claim that is accepted is refunded. */
export function resolveDispute(ctx: Context, id: string, resolution: string): Dispute | null {
  const before = ctx.disputes.get(id);
  if (!before || before.resolution === resolution) return null;
  const after = ctx.disputes.put(id, { ...before, status: 'resolved', resolution });
  const transaction = transactionOf(ctx, String(before.transaction));
  if (transaction && resolution !== 'declined') {
    const sum = before.amount ?? transaction.amount;
    addRefund(ctx, transaction, { sum, note: '', dispute: before.id });
  }
  return after;
}

/** Sets the status of a dispute, also to a word that ends nothing. */
export const markDispute = (ctx: Context, id: string, status: string): Dispute | null => {
  const before = ctx.disputes.get(id);
  return before ? ctx.disputes.put(id, { ...before, status }) : null;
};

/** GET /dispute, also of one transaction, which is named by its number. */
export function listDisputes(ctx: Context, { query }: Request): Answer {
  const { transaction, from, to, perPage: size = '50', page: number = '1' } = query;
  const rows = ctx.disputes
    .all()
    .filter((each) => transaction === undefined || String(each.transaction) === transaction)
    .filter(({ createdAt }) => within(createdAt, from, to))
    .toReversed();
  return page('Disputes retrieved', rows, {
    page: Number(number),
    size: Number(size),
    textual: false,
    body: (each) => disputeBody(ctx, each),
  });
}

/** GET /dispute/{id}. */
export function getDispute(ctx: Context, { parameter }: Request): Answer {
  const dispute = ctx.disputes.get(parameter);
  return dispute
    ? done('Dispute retrieved', disputeBody(ctx, dispute))
    : refused(404, 'Dispute not found');
}

/** A dispute in a look-up, a list or a message. Its amount and currency may be null. */
export function disputeBody(ctx: Context, dispute: Dispute) {
  const transaction = transactionOf(ctx, String(dispute.transaction));
  return {
    id: dispute.id,
    refund_amount: dispute.amount,
    currency: dispute.amount === null ? null : 'NGN',
    status: dispute.status,
    resolution: dispute.resolution,
    domain: ctx.domain,
    transaction: {
      id: transaction?.id,
      domain: ctx.domain,
      status: transaction?.status,
      reference: transaction?.reference,
      amount: transaction?.amount,
      currency: 'NGN',
    },
    category: 'chargeback',
    note: null,
    attachments: '',
    dueAt: dispute.dueAt,
    resolvedAt: null,
    evidence: null,
    createdAt: dispute.createdAt,
    updatedAt: dispute.createdAt,
  };
}
