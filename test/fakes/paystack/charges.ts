import { randomBytes } from 'node:crypto';
import { cut, done, page, refused, type Answer } from './answers.js';
import type { Context } from './context.js';
import type { Request } from './http.js';
import type { Authorization, SavedOutcome, Transaction } from './records.js';
import { within } from './transfers.js';

const code = (prefix: string) => `${prefix}_${randomBytes(5).toString('hex')}`;
const REFERENCE = /^[A-Za-z0-9.=-]{1,100}$/;
const feeOf = (amount: number): number => Math.round(amount * 0.015);

/** POST /transaction/initialize. */
export function initialize(ctx: Context, { body, origin }: Request): Answer {
  const wrong = problemOf(ctx, body);
  if (wrong) return wrong;
  if (body['metadata'] !== undefined && typeof body['metadata'] !== 'object') {
    return refused(400, 'Invalid metadata', 'invalid_params');
  }
  const accessCode = randomBytes(8).toString('hex');
  const transaction = newTransaction(ctx, body, {
    status: 'abandoned',
    accessCode,
    callbackUrl: typeof body['callback_url'] === 'string' ? body['callback_url'] : null,
    metadata: body['metadata'] ?? '',
  });
  const answer = done('Authorization URL created', {
    authorization_url: `${origin}/checkout/${accessCode}`,
    access_code: accessCode,
    reference: transaction.reference,
  });
  return answer;
}

/** POST /transaction/charge_authorization. The saved method chooses the outcome. */
export function chargeAuthorization(ctx: Context, { body, origin }: Request): Answer {
  const wrong = problemOf(ctx, body);
  if (wrong) return wrong;
  if (body['metadata'] !== undefined && typeof body['metadata'] !== 'string') {
    return refused(400, 'metadata must be a string', 'invalid_params');
  }
  const authorization = ctx.authorizations.get(String(body['authorization_code']));
  if (!authorization?.active) return refused(400, 'Invalid Authorization Code', 'invalid_params');
  if (authorization.email !== body['email']) {
    return refused(400, 'Email address does not match authorization code');
  }
  const outcome = authorization.next;
  if (outcome !== 'success')
    ctx.authorizations.put(authorization.code, { ...authorization, next: 'success' });
  if (outcome === 'lost_before') return cut(refused(400, 'lost before it was accepted'));
  return charge(ctx, authorization, { body, origin, outcome });
}

const STATUS_OF: Record<SavedOutcome, Transaction['status']> = {
  success: 'success',
  lost: 'success',
  lost_before: 'failed',
  pending: 'pending',
  paused: 'ongoing',
  paused_lost: 'ongoing',
  insufficient_funds: 'failed',
  expired: 'failed',
};
const RESPONSES: Partial<Record<SavedOutcome, string>> = {
  insufficient_funds: 'Insufficient Funds',
  expired: 'Expired card.',
};

function charge(
  ctx: Context,
  authorization: Authorization,
  { body, origin, outcome }: Pick<Request, 'body' | 'origin'> & { outcome: SavedOutcome },
): Answer {
  const isPaused = outcome === 'paused' || outcome === 'paused_lost';
  const accessCode = isPaused ? randomBytes(8).toString('hex') : null;
  const made = newTransaction(ctx, body, {
    status: 'pending',
    accessCode,
    callbackUrl: null,
    metadata: parsed(body['metadata']),
    channel: authorization.channel === 'card' ? 'card' : 'direct_debit',
    authorization: authorization.code,
    gatewayResponse: RESPONSES[outcome] ?? null,
  });
  const status = STATUS_OF[outcome];
  const after =
    status === 'success'
      ? pay(ctx, made.reference, {})
      : ctx.transactions.put(made.reference, { ...made, status });
  if (accessCode !== null) {
    const redirected = done('Please, redirect your customer to the authorization url provided', {
      authorization_url: `${origin}/checkout/${accessCode}`,
      reference: made.reference,
      access_code: accessCode,
      paused: true,
    });
    return outcome === 'paused_lost' ? cut(redirected) : redirected;
  }
  const body_ = done('Charge attempted', attemptBody(ctx, after ?? made));
  return outcome === 'lost' ? cut(body_) : body_;
}

function problemOf(ctx: Context, body: Record<string, unknown>): Answer | null {
  const { email, amount, reference, currency } = body;
  if (typeof email !== 'string' || !email.includes('@')) {
    return refused(400, 'Invalid Email Address Passed', 'invalid_params');
  }
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 1)
    return refused(400, 'Invalid Amount Sent', 'invalid_params');
  if (currency !== 'NGN') return refused(403, 'Currency not supported by merchant');
  if (typeof reference !== 'string' || !REFERENCE.test(reference))
    return refused(400, 'Invalid character in transaction reference');
  if (ctx.transactions.get(reference))
    return refused(400, 'Duplicate Transaction Reference', 'duplicate_reference');
  return null;
}

/** Writes a new transaction. */
export function newTransaction(
  ctx: Context,
  body: Record<string, unknown>,
  own: Partial<Transaction>,
): Transaction {
  const amount = Number(body['amount']);
  const transaction: Transaction = {
    id: ctx.id('transaction'),
    reference: String(body['reference']),
    amount,
    requested: amount,
    currency: 'NGN',
    email: String(body['email']),
    status: 'abandoned',
    channel: null,
    gatewayResponse: null,
    fees: null,
    authorization: null,
    metadata: '',
    accessCode: null,
    callbackUrl: null,
    domain: ctx.domain,
    hiddenUntil: 0,
    createdAt: ctx.now(),
    paidAt: null,
    ...own,
  };
  ctx.numbers.put(String(transaction.id), transaction.reference);
  return ctx.transactions.put(transaction.reference, transaction);
}

/**
 * The way in which a page is paid. `surcharge`: the business passes its fees on to the customer. `omitsRequested`: the message
 * about it has no `requested_amount`.
 */
export type Payment = {
  omitsRequested?: boolean;
  surcharge?: number;
  reusable?: boolean;
  next?: SavedOutcome;
  amount?: number;
  channel?: 'card' | 'bank';
};

/** Pays a transaction. A later payment of one that has failed counts too. Null if there is none, or if it is paid. */
export function pay(ctx: Context, reference: string, payment: Payment): Transaction | null {
  const before = ctx.transactions.get(reference);
  if (!before || before.status === 'success') return null;
  const requested = payment.amount ?? before.requested;
  const amount = requested + (payment.surcharge ?? 0);
  const fees = feeOf(requested) + (payment.surcharge ?? 0);
  const paid = ctx.transactions.put(reference, {
    ...before,
    amount,
    requested,
    fees,
    status: 'success',
    channel: before.channel ?? payment.channel ?? 'card',
    gatewayResponse: 'Approved',
    paidAt: ctx.now(),
    authorization: before.authorization ?? save(ctx, before.email, payment).code,
  });
  ctx.store.note({ kind: 'charged', reference, amount, fee: fees });
  ctx.store.move(amount - fees, 'Transaction', before.id);
  return paid;
}

function save(
  ctx: Context,
  email: string,
  { reusable = true, next = 'success', channel }: Payment,
): Authorization {
  const authorization: Authorization = {
    code: code('AUTH'),
    email,
    channel: 'card',
    brand: 'visa',
    last4: channel === 'bank' ? 'X553' : '4081',
    expMonth: '12',
    reusable: reusable && channel !== 'bank',
    active: true,
    next,
  };
  return ctx.authorizations.put(authorization.code, authorization);
}

/** An attempt on a page fails; the page stays open. */
export function decline(ctx: Context, reference: string, response: string): Transaction | null {
  const before = ctx.transactions.get(reference);
  if (!before || before.status === 'success') return null;
  return ctx.transactions.put(reference, {
    ...before,
    status: 'failed',
    gatewayResponse: response,
  });
}

/** GET /transaction/{id}. */
export function getTransaction(ctx: Context, { parameter }: Request): Answer {
  const transaction = ctx.transactions.get(ctx.numbers.get(parameter) ?? '');
  if (!transaction) return refused(404, 'Transaction not found', 'transaction_not_found');
  return done('Transaction retrieved', transactionBody(ctx, transaction));
}

/** GET /transaction/verify/{reference}. */
export function verifyTransaction(ctx: Context, { parameter }: Request): Answer {
  const transaction = ctx.transactions.get(parameter);
  if (!transaction || transaction.hiddenUntil > Date.now())
    return refused(404, 'Transaction reference not found.', 'transaction_not_found');
  return done('Verification successful', transactionBody(ctx, transaction));
}

/** GET /transaction. */
export function listTransactions(ctx: Context, { query }: Request): Answer {
  const { status, from, to, per_page: size = '50', page: number = '1' } = query;
  const rows = ctx.transactions
    .all()
    .filter(
      (each) =>
        (status === undefined || each.status === status) &&
        each.hiddenUntil <= Date.now() &&
        within(each.createdAt, from, to),
    )
    .toReversed();
  return page('Transactions retrieved', rows, {
    page: Number(number),
    size: Number(size),
    textual: false,
    body: (each) => transactionBody(ctx, each),
  });
}

/** POST /customer/authorization/deactivate. */
export function deactivate(ctx: Context, { body }: Request): Answer {
  const authorization = ctx.authorizations.get(String(body['authorization_code']));
  if (!authorization?.active) return refused(404, 'Authorization code not found');
  ctx.authorizations.put(authorization.code, { ...authorization, active: false });
  return { status: 200, body: { status: true, message: 'Authorization has been deactivated' } };
}

/** A transaction in a look-up, a list or a message. */
export function transactionBody(ctx: Context, transaction: Transaction) {
  return {
    ...attemptBody(ctx, transaction),
    requested_amount: transaction.requested,
    paid_at: transaction.paidAt,
    paidAt: transaction.paidAt,
    created_at: transaction.createdAt,
    createdAt: transaction.createdAt,
  };
}

/** A transaction in the answer to the charge of a saved method, which has no `requested_amount`. */
function attemptBody(ctx: Context, transaction: Transaction) {
  const left = ctx.authorizations.get(transaction.authorization ?? '');
  const isPaid = transaction.status === 'success';
  return {
    id: transaction.id,
    domain: transaction.domain,
    status: transaction.status,
    reference: transaction.reference,
    amount: transaction.amount,
    currency: transaction.currency,
    transaction_date: transaction.createdAt,
    message: null,
    gateway_response: transaction.gatewayResponse,
    channel: transaction.channel,
    ip_address: null,
    metadata: hasLostMetadata(transaction) ? '' : transaction.metadata,
    log: null,
    fees: transaction.fees,
    fees_split: null,
    authorization: isPaid ? paidBy(transaction, left) : {},
    customer: {
      id: 54_219_771,
      first_name: null,
      last_name: null,
      email: transaction.email,
      customer_code: 'CUS_invented00000001',
      phone: null,
      metadata: null,
      risk_action: 'default',
    },
    plan: null,
  };
}

/** Every third transaction of a saved method is told without its metadata, as in some official examples. */
const hasLostMetadata = ({ id, accessCode }: Transaction): boolean =>
  accessCode === null && id % 3 === 1;

function paidBy({ receiver }: Transaction, left: Authorization | undefined) {
  if (receiver) return receiverBody(receiver);
  return left ? authorizationBody(left) : {};
}

const receiverBody = (receiver: NonNullable<Transaction['receiver']>) => ({
  authorization_code: 'AUTH_invented01',
  bin: '008XXX',
  last4: 'X553',
  exp_month: '12',
  exp_year: '2031',
  channel: 'dedicated_nuban',
  card_type: 'transfer',
  bank: null,
  country_code: 'NG',
  brand: 'Managed Account',
  reusable: false,
  signature: null,
  account_name: null,
  sender_country: 'NG',
  sender_bank: 'Test Bank',
  sender_bank_account_number: 'XXXXXX4321',
  sender_name: receiver.sender,
  narration: receiver.narration,
  receiver_bank_account_number: receiver.account,
  receiver_bank: 'Wema Bank',
});

const authorizationBody = (left: Authorization) => ({
  authorization_code: left.code,
  bin: left.channel === 'card' ? '408408' : null,
  last4: left.last4,
  // A number for some cards, a text for others.
  exp_month:
    left.channel === 'card' ? (left.reusable ? left.expMonth : Number(left.expMonth)) : null,
  exp_year: left.channel === 'card' ? '2031' : null,
  channel: left.channel,
  card_type: left.channel === 'card' ? `${left.brand} ` : null,
  bank: 'TEST BANK',
  country_code: 'NG',
  brand: left.channel === 'card' ? left.brand : null,
  // Some bodies leave it out for a method that cannot be charged again.
  ...(left.reusable && { reusable: true }),
  signature: `SIG_${left.code.slice(5)}`,
  account_name: null,
});

function parsed(metadata: unknown): unknown {
  if (typeof metadata !== 'string') return 0;
  try {
    return JSON.parse(metadata);
  } catch {
    return metadata;
  }
}
