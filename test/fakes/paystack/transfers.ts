import { randomBytes } from 'node:crypto';
import { cut, done, page, refused, type Answer } from './answers.js';
import { bankOf, holderOf } from './banks.js';
import type { Context } from './context.js';
import type { Request } from './http.js';
import type { Recipient, Transfer } from './records.js';

const code = (prefix: string) => `${prefix}_${randomBytes(8).toString('hex').slice(0, 15)}`;
const FEE = 1_000;
const HIDDEN_MS = 2_000;
/** Paystack's session ids have three lengths. */
const SESSION_LENGTHS = [17, 29, 30];

/** POST /transferrecipient. A known account comes back with its code. */
export function createRecipient(ctx: Context, { body }: Request): Answer {
  const { type, name, account_number: account, bank_code: bankCode, currency = 'NGN' } = body;
  if (type !== 'nuban' || !isText(name)) return refused(400, 'name is required', 'missing_params');
  if (!isText(account) || !/^[0-9]{10}$/.test(account))
    return refused(400, 'Account number is invalid', 'invalid_params');
  if (!isText(bankCode) || !bankOf(bankCode))
    return refused(400, 'Bank is invalid', 'invalid_params');
  const key = `${bankCode}/${account}`;
  const known = ctx.recipients.get(ctx.accounts.get(key) ?? '');
  const message = 'Transfer recipient created successfully';
  if (known && !known.deleted) return done(message, recipientBody(ctx, known));
  const recipient: Recipient = {
    id: ctx.id('recipient'),
    code: code('RCP'),
    name,
    account,
    bankCode,
    currency: String(currency),
    deleted: false,
    createdAt: ctx.now(),
  };
  ctx.recipients.put(recipient.code, recipient);
  ctx.accounts.put(key, recipient.code);
  return done(message, recipientBody(ctx, recipient), undefined, 201);
}

/** POST /transfer. The last three digits of the account choose the outcome. */
export function submitTransfer(ctx: Context, { body }: Request): Answer {
  const wrong = problemOf(body);
  if (wrong) return wrong;
  const { reference, amount, recipient: recipientCode, reason } = body as Record<string, string>;
  const recipient = ctx.recipients.get(String(recipientCode));
  const existing = ctx.transfers.get(String(reference));
  if (existing) return duplicate(ctx, existing);
  if (
    !recipient ||
    recipient.deleted ||
    (endsIn(recipient, '014') && ctx.isFirst(`gone/${recipient.account}`))
  ) {
    if (recipient) deleteRecipient(ctx, recipient);
    return refused(400, 'Recipient specified is invalid', 'invalid_transfer_recipient');
  }
  const [sum, short] = [
    Number(amount),
    endsIn(recipient, '013') && ctx.isFirst(`float/${reference}`, 2),
  ];
  if (short || ctx.store.balance() < sum + FEE) {
    return refused(
      400,
      `Your balance is not enough to ${sum % 2 ? 'fulfill' : 'fulfil'} this request`,
    );
  }
  if (endsIn(recipient, '005') && ctx.isFirst(`lost/${reference}`)) {
    return cut(refused(400, 'lost before it was accepted'));
  }
  const transfer = accept(ctx, recipient, {
    reference: String(reference),
    amount: sum,
    reason: reason ?? '',
  });
  return /(004|009|010)$/.test(recipient.account)
    ? cut(answerAbout(transfer))
    : answerAbout(transfer);
}

function problemOf(body: Record<string, unknown>): Answer | null {
  const { source, reference, amount, recipient, currency } = body;
  if (source !== 'balance' || !isText(recipient) || !isText(reference)) {
    return refused(400, 'source, recipient and reference are required', 'missing_params');
  }
  if (!/^[a-z0-9_-]{16,50}$/.test(reference))
    return refused(400, 'Your reference contains illegal special characters');
  if (
    typeof amount !== 'number' ||
    !Number.isSafeInteger(amount) ||
    amount < 1 ||
    currency !== 'NGN'
  )
    return refused(400, 'Invalid amount passed.', 'invalid_params');
  return null;
}

/** A duplicate reference comes with 400, and for some transfers with 404. */
function duplicate(ctx: Context, { recipient }: Transfer): Answer {
  const of = ctx.recipients.get(recipient);
  return refused(
    of && endsIn(of, '010') ? 404 : 400,
    'Please provide a unique reference. Reference already exists on a transfer',
    'duplicate_transfer_reference',
  );
}

/** The status with which a transfer begins, and those that follow by themselves. */
const STEPS: Record<string, [Transfer['status'], ...Transfer['status'][]]> = {
  '001': ['pending'],
  '002': ['pending', 'failed'],
  '006': ['success', 'reversed'],
  '007': ['otp', 'abandoned'],
  '008': ['pending', 'failed', 'success'],
  '015': ['parked'],
  '017': ['received', 'blocked'],
  '018': ['received', 'rejected'],
};

function accept(
  ctx: Context,
  recipient: Recipient,
  order: Pick<Transfer, 'reference' | 'amount' | 'reason'>,
) {
  const suffix = recipient.account.slice(-3);
  const steps = STEPS[suffix] ?? ['pending', 'success'];
  const [first, ...later] = ctx.hasOtp ? (['otp'] as const) : steps;
  const transfer: Transfer = {
    id: ctx.id('transfer'),
    code: code('TRF'),
    ...order,
    currency: 'NGN',
    recipient: recipient.code,
    status: first,
    fee: null,
    session: null,
    domain: suffix === '016' ? ctx.otherDomain : ctx.domain,
    hiddenUntil: suffix === '004' ? Date.now() + HIDDEN_MS : 0,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  };
  ctx.store.move(-(order.amount + FEE), 'Transfer', transfer.id);
  ctx.transfers.put(transfer.reference, transfer);
  if (first === 'success') payOut(ctx, transfer);
  later.forEach((status, i) => {
    const id = ctx.id('planned');
    const dueAt = Date.now() + ctx.stepMs * (i + 1) + (suffix === '004' ? HIDDEN_MS : 0);
    ctx.planned.put(String(id), { id, dueAt, does: 'transfer', key: transfer.reference, status });
  });
  return transfer;
}

const PAID = new Set<Transfer['status']>(['success']);
const OVER = new Set<Transfer['status']>([
  'failed',
  'abandoned',
  'blocked',
  'rejected',
  'reversed',
]);

/** Moves a transfer to another status, with its money. Returns it as it is now. */
export function moveTransfer(
  ctx: Context,
  reference: string,
  status: Transfer['status'],
): Transfer | null {
  const before = ctx.transfers.get(reference);
  if (!before || before.status === status) return null;
  const after = ctx.transfers.put(reference, { ...before, status, updatedAt: ctx.now() });
  const sum = before.amount + FEE;
  if (OVER.has(before.status) && !OVER.has(status)) {
    ctx.store.move(-sum, 'Transfer', before.id);
  }
  if (!OVER.has(before.status) && OVER.has(status)) {
    ctx.store.move(sum, 'Transfer', before.id);
  }
  if (PAID.has(status)) return payOut(ctx, after);
  if (PAID.has(before.status)) {
    ctx.store.note({ kind: 'paid_out_returned', reference, amount: before.amount, fee: FEE });
  }
  return after;
}

function payOut(ctx: Context, transfer: Transfer): Transfer {
  const { reference, amount, id } = transfer;
  ctx.store.note({ kind: 'paid_out', reference, amount, fee: FEE });
  const length = SESSION_LENGTHS[id % SESSION_LENGTHS.length] ?? 30;
  const session = `000013${transfer.createdAt.replaceAll(/[^0-9]/g, '')}${id}`
    .padEnd(30, '0')
    .slice(0, length);
  return ctx.transfers.put(reference, { ...transfer, fee: FEE, session });
}

/** Deletes a recipient, as its owner may on the dashboard. */
const deleteRecipient = (ctx: Context, recipient: Recipient): unknown =>
  ctx.recipients.put(recipient.code, { ...recipient, deleted: true });

/** GET /transfer/verify/{reference}. */
export function verifyTransfer(ctx: Context, { parameter }: Request): Answer {
  const transfer = ctx.transfers.get(parameter);
  if (!transfer || transfer.hiddenUntil > Date.now())
    return refused(404, 'Transfer not found', 'transfer_not_found');
  return done('Transfer retrieved', transferBody(ctx, transfer, true));
}

/** GET /transfer/{id}. */
export function getTransfer(ctx: Context, { parameter }: Request): Answer {
  const transfer = ctx.transfers
    .all()
    .find(({ id, code: of }) => String(id) === parameter || of === parameter);
  if (!transfer) return refused(404, 'Transfer not found', 'transfer_not_found');
  return done('Transfer retrieved', transferBody(ctx, transfer, true));
}

/** GET /transfer. The page size is `per_page`. */
export function listTransfers(ctx: Context, { query }: Request): Answer {
  const { status, from, to, per_page: size = '50', page: number = '1' } = query;
  const rows = ctx.transfers
    .all()
    .filter(
      (each) =>
        (status === undefined || each.status === status) && within(each.createdAt, from, to),
    )
    .filter(({ hiddenUntil }) => hiddenUntil <= Date.now())
    .toReversed();
  return page('Transfers retrieved', rows, {
    page: Number(number),
    size: Number(size),
    textual: true,
    body: (each) => transferBody(ctx, each, true),
  });
}

/** True if a time is in a window of a list. */
export const within = (at: string, from?: string, to?: string): boolean =>
  (from === undefined || at >= new Date(from).toISOString()) &&
  (to === undefined || at <= new Date(to).toISOString());

const answerAbout = (transfer: Transfer): Answer =>
  done('Transfer has been queued', {
    reference: transfer.reference,
    integration: 428_626,
    domain: transfer.domain,
    amount: transfer.amount,
    currency: transfer.currency,
    source: 'balance',
    reason: transfer.reason,
    // A number here, an object in a look-up.
    recipient: 6_788_170,
    status: transfer.status,
    transfer_code: transfer.code,
    id: transfer.id,
    failures: null,
    request: 654_770_431,
    transferred_at: null,
    createdAt: transfer.createdAt,
    updatedAt: transfer.updatedAt,
  });

/** A transfer in a look-up, a list or a message. */
export function transferBody(ctx: Context, transfer: Transfer, withFee: boolean) {
  const recipient = ctx.recipients.get(transfer.recipient);
  return {
    id: transfer.id,
    domain: transfer.domain,
    // The amount of a rejected transfer is a text.
    amount: transfer.status === 'rejected' ? String(transfer.amount) : transfer.amount,
    currency: transfer.currency,
    reference: transfer.reference,
    source: 'balance',
    source_details: null,
    reason: transfer.reason,
    status: transfer.status,
    failures: null,
    transfer_code: transfer.code,
    titan_code: null,
    transferred_at: null,
    integration: withFee ? 428_626 : { id: 428_626, is_live: true, business_name: 'Invented Ltd' },
    request: null,
    ...(withFee && { fee_charged: transfer.fee ?? 0, fees_breakdown: null }),
    recipient: recipient ? recipientBody(ctx, recipient) : null,
    session: { provider: transfer.session ? 'nip' : null, id: transfer.session },
    createdAt: transfer.createdAt,
    updatedAt: transfer.updatedAt,
  };
}

const recipientBody = (ctx: Context, recipient: Recipient) => ({
  active: true,
  createdAt: recipient.createdAt,
  updatedAt: recipient.createdAt,
  currency: recipient.currency,
  description: null,
  domain: ctx.domain,
  email: null,
  id: recipient.id,
  integration: 428_626,
  metadata: null,
  name: recipient.name,
  recipient_code: recipient.code,
  type: 'nuban',
  is_deleted: recipient.deleted,
  details: {
    authorization_code: null,
    account_number: recipient.account,
    account_name: holderOf(recipient.account),
    bank_code: recipient.bankCode,
    bank_name: bankOf(recipient.bankCode)?.name ?? null,
  },
});

const endsIn = (recipient: Recipient, suffix: string): boolean =>
  recipient.account.endsWith(suffix);
const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0;
