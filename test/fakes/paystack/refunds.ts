import { done, page, refused, type Answer } from './answers.js';
import type { Context } from './context.js';
import type { Request } from './http.js';
import type { Refund, Transaction } from './records.js';
import { within } from './transfers.js';

const LISTED_LATE_MS = 3_000;

/** The outcome of a refund: the statuses that follow, and whether it is listed late. */
type RefundOutcome = { steps: Refund['status'][]; late?: boolean };

/**
 * The form of the messages about a refund. `sample`: as the official samples, without an id, the notes, the dispute and the times.
 * `named`: that and the id. `noted`: all of them. Without a choice each refund has one of the three.
 */
export type RefundForm = 'sample' | 'named' | 'noted';
const FORMS: readonly RefundForm[] = ['sample', 'named', 'noted'];

/** POST /refund. A part of the amount names its outcome: 11 to 17 kobo at the end. */
export function createRefund(ctx: Context, { body }: Request): Answer {
  const { transaction: of, amount, merchant_note: note } = body;
  const transaction = transactionOf(ctx, String(of));
  if (!transaction || transaction.paidAt === null) return refused(404, 'Transaction not found');
  const left = transaction.amount - refundedOf(ctx, transaction.id);
  if (left <= 0) return refused(400, 'Transaction has been fully reversed');
  const sum = amount === undefined ? left : Number(amount);
  if (!Number.isSafeInteger(sum) || sum < 1 || sum > left)
    return refused(400, 'Refund amount is more than what is left', 'invalid_params');
  if (ctx.store.balance() < sum)
    return refused(400, 'Insufficient balance to fulfill this refund. Please top up.');
  const refund = addRefund(ctx, transaction, { sum, note: typeof note === 'string' ? note : '' });
  return done('Refund has been queued for processing', refundBody(ctx, refund, 'answer'));
}

const PROCESSED: RefundOutcome = { steps: ['processing', 'processed'] };
const OUTCOMES: Readonly<Record<string, RefundOutcome>> = {
  '11': { steps: ['processed', 'failed'] },
  '12': { steps: ['needs-attention'] },
  '13': { steps: ['processing', 'failed'] },
  '14': { steps: ['processed'], late: true },
  '15': { steps: [] },
  '16': { steps: ['processing', 'failed'], late: true },
  '17': { steps: ['processed', 'failed'], late: true },
};

/** Refunds a transaction, also from the dashboard. */
export function addRefund(
  ctx: Context,
  { id, reference }: Transaction,
  { sum, note, dispute = null }: { sum: number; note: string; dispute?: number | null },
): Refund {
  const { steps, late = false } = OUTCOMES[String(sum).slice(-2)] ?? PROCESSED;
  const refund: Refund = {
    id: ctx.id('refund'),
    transaction: id,
    amount: sum,
    currency: 'NGN',
    merchantNote: note === '' ? `Refund for transaction ${reference}` : note,
    status: 'pending',
    dispute,
    listedFrom: late ? Date.now() + LISTED_LATE_MS : 0,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  };
  ctx.refunds.put(String(refund.id), refund);
  ctx.store.move(-sum, 'Refund', refund.id);
  ctx.store.note({
    kind: dispute === null ? 'refunded' : 'dispute_lost',
    reference,
    amount: sum,
    fee: 0,
  });
  steps.forEach((status, i) => {
    const planned = ctx.id('planned');
    const dueAt = Date.now() + ctx.stepMs * (i + 1);
    ctx.planned.put(String(planned), {
      id: planned,
      dueAt,
      does: 'refund',
      key: String(refund.id),
      status,
    });
  });
  return refund;
}

/** Moves a refund to another status, with its money. */
export function moveRefund(ctx: Context, id: string, status: Refund['status']): Refund | null {
  const before = ctx.refunds.get(id);
  if (!before || before.status === status) return null;
  const after = ctx.refunds.put(id, { ...before, status, updatedAt: ctx.now() });
  markReversed(ctx, after);
  if (status === 'failed') {
    ctx.store.move(before.amount, 'Refund', before.id);
    const reference = transactionOf(ctx, String(before.transaction))?.reference ?? '';
    ctx.store.note({ kind: 'refund_returned', reference, amount: before.amount, fee: 0 });
  }
  return after;
}

/** A transaction is `reversed` once all of it was refunded, and as before if that fails. */
function markReversed(ctx: Context, { transaction: of, status }: Refund): void {
  const transaction = transactionOf(ctx, String(of));
  if (!transaction) return;
  const isBack = status === 'processed' && refundedOf(ctx, transaction.id) >= transaction.amount;
  const isAgain = status === 'failed' && transaction.status === 'reversed';
  if (!isBack && !isAgain) return;
  ctx.transactions.put(transaction.reference, {
    ...transaction,
    status: isBack ? 'reversed' : 'success',
  });
}

/** POST /refund/retry_with_customer_details/{id}. */
export function retryRefund(ctx: Context, { parameter, body }: Request): Answer {
  const refund = ctx.refunds.get(parameter);
  if (!refund) return refused(404, 'Refund not found');
  if (refund.status !== 'needs-attention') return refused(422, 'Refund does not need attention');
  const details = body['refund_account_details'] as Record<string, unknown> | undefined;
  if (
    !details ||
    ['currency', 'account_number', 'bank_id'].some((name) => typeof details[name] !== 'string')
  )
    return refused(400, 'refund_account_details are required', 'missing_params');
  const after = moveRefund(ctx, parameter, 'processing') ?? refund;
  const planned = ctx.id('planned');
  const dueAt = Date.now() + ctx.stepMs;
  ctx.planned.put(String(planned), {
    id: planned,
    dueAt,
    does: 'refund',
    key: parameter,
    status: 'processed',
  });
  return done(
    'Refund retried and has been queued for processing',
    refundBody(ctx, after, 'answer'),
  );
}

/** GET /refund. The page size is `perPage`; the transaction is a number in this list. */
export function listRefunds(ctx: Context, { query }: Request): Answer {
  const { from, to, perPage: size = '50', page: number = '1' } = query;
  const rows = ctx.refunds
    .all()
    .filter((each) => each.listedFrom <= Date.now() && within(each.createdAt, from, to))
    .toReversed();
  return page('Refunds retrieved', rows, {
    page: Number(number),
    size: Number(size),
    textual: true,
    body: (each) => refundBody(ctx, each, 'list'),
  });
}

/** GET /refund/{id}. */
export function getRefund(ctx: Context, { parameter }: Request): Answer {
  const refund = ctx.refunds.get(parameter);
  if (!refund) return refused(404, 'Refund not found');
  return done('Refund retrieved', refundBody(ctx, refund, 'list'));
}

const refundedOf = (ctx: Context, transaction: number): number =>
  ctx.refunds
    .all()
    .filter((each) => each.transaction === transaction && each.status !== 'failed')
    .reduce((sum, each) => sum + each.amount, 0);

/** A transaction by its reference or its number. */
export const transactionOf = (ctx: Context, of: string): Transaction | undefined =>
  ctx.transactions.get(of) ?? ctx.transactions.get(ctx.numbers.get(of) ?? '');

/** A refund as an answer, a list or a message has it. */
export function refundBody(ctx: Context, refund: Refund, as: 'answer' | 'list' | 'message') {
  const transaction = transactionOf(ctx, String(refund.transaction));
  const base = {
    status: refund.status,
    currency: refund.currency,
    customer_note: null,
    merchant_note: refund.merchantNote,
    dispute: refund.dispute,
    domain: ctx.domain,
    createdAt: refund.createdAt,
    updatedAt: refund.updatedAt,
    refunded_by: 'desk@example.com',
    expected_at: refund.createdAt,
  };
  if (as === 'message') {
    const { status, currency, domain, ...unnamed } = base;
    const form = ctx.refundForm.value ?? FORMS[refund.id % FORMS.length];
    return {
      status,
      currency,
      domain,
      // The amount is a text.
      amount: String(refund.amount),
      transaction_reference: transaction?.reference,
      refund_reference: refund.status === 'processed' ? `TRF_${refund.id}` : null,
      integration: 428_626,
      customer: { first_name: 'Ada', last_name: null, email: transaction?.email },
      ...(form !== 'sample' && { id: String(refund.id) }),
      ...(form === 'noted' && unnamed),
    };
  }
  if (as === 'list') {
    return {
      ...base,
      id: refund.id,
      amount: refund.amount,
      transaction: refund.transaction,
      fully_deducted: 1,
    };
  }
  return {
    ...base,
    id: refund.id,
    amount: refund.amount,
    transaction: {
      id: transaction?.id,
      domain: ctx.domain,
      reference: transaction?.reference,
      amount: transaction?.amount,
    },
    fully_deducted: null,
    deducted_amount: 0,
    channel: null,
  };
}
