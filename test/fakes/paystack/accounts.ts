import { randomBytes } from 'node:crypto';
import { done, page, refused, type Answer } from './answers.js';
import { newTransaction } from './charges.js';
import type { Context } from './context.js';
import { customerOf, holderBody } from './customers.js';
import type { Request } from './http.js';
import type { DedicatedAccount, Transaction } from './records.js';

/** The banks that have virtual accounts. */
const BANKS = [
  { provider_slug: 'wema-bank', bank_id: 20, bank_name: 'Wema Bank', id: 5 },
  { provider_slug: 'titan-paystack', bank_id: 629, bank_name: 'Titan Paystack', id: 22 },
  { provider_slug: 'access-bank', bank_id: 1, bank_name: 'Access Bank', id: 7 },
];
const [DEFAULT_BANK] = BANKS;
const FEE = 0.01;

/** GET /dedicated_account/available_providers. */
export const listAccountBanks = (): Answer => done('Dedicated account providers retrieved', BANKS);

/** POST /dedicated_account. The last three digits of the customer's phone number choose the outcome. */
export function createAccount(ctx: Context, { body }: Request): Answer {
  const { customer: code, preferred_bank: slug } = body as Record<string, string>;
  const customer = customerOf(ctx, String(code));
  if (!customer) return refused(404, 'Customer not found', 'customer_not_found');
  if (customer.firstName === null || customer.phone === null) {
    return refused(400, 'Customer name and phone number are required', 'missing_params');
  }
  const bank = slug === undefined ? DEFAULT_BANK : BANKS.find((b) => b.provider_slug === slug);
  if (!bank) return refused(400, 'Preferred bank is not available', 'invalid_params');
  const known = ctx.dedicated.all().find(({ email }) => email === customer.email);
  if (known) return answerAbout(ctx, known);
  const digits = customer.phone.slice(-3);
  const isLater = ['001', '002', '006'].includes(digits);
  const id = ctx.id('dedicated');
  const account = ctx.dedicated.put(String(id), {
    id,
    email: customer.email,
    // A number may begin with a zero.
    number: `0${String(990_000_000 + (id % 10_000_000))}`,
    name: `INVENTED/${customer.firstName} ${customer.lastName ?? ''}`.trim().toUpperCase(),
    slug: bank.provider_slug,
    assigned: !isLater,
    createdAt: ctx.now(),
  });
  const status = digits === '001' ? 'success' : 'failed';
  if (isLater && digits !== '006') {
    const planned = ctx.id('planned');
    const dueAt = Date.now() + ctx.stepMs;
    ctx.planned.put(String(planned), {
      id: planned,
      dueAt,
      does: 'assign',
      key: String(id),
      status,
    });
  }
  return answerAbout(ctx, account);
}

const answerAbout = (ctx: Context, account: DedicatedAccount): Answer =>
  done('NUBAN successfully created', accountBody(ctx, account, 'answer'));

/** Decides an assignment that was pending. Null if there is none. */
export function assign(ctx: Context, id: string, status: string): DedicatedAccount | null {
  const before = ctx.dedicated.get(id);
  if (!before || before.assigned) return null;
  return status === 'success' ? ctx.dedicated.put(id, { ...before, assigned: true }) : before;
}

/** GET /dedicated_account, by customer. */
export function listAccounts(ctx: Context, { query }: Request): Answer {
  const { customer, perPage: size = '50', page: number = '1' } = query;
  const rows = ctx.dedicated
    .all()
    .filter(({ email }) => String(ctx.customers.get(email)?.id) === (customer ?? ''));
  return page('Managed accounts successfully retrieved', rows, {
    page: Number(number),
    size: Number(size),
    textual: false,
    body: (each) => accountBody(ctx, each, 'look_up'),
  });
}

/** GET /dedicated_account/{id}. */
export function getAccount(ctx: Context, { parameter }: Request): Answer {
  const account = ctx.dedicated.get(parameter);
  if (!account) return noAccount;
  return done('Customer retrieved', accountBody(ctx, account, 'look_up'));
}

/** DELETE /dedicated_account/{id}. A repeat answers as the first request. */
export function closeAccount(ctx: Context, { parameter }: Request): Answer {
  const before = ctx.dedicated.get(parameter);
  if (!before) return noAccount;
  const account = ctx.dedicated.put(parameter, { ...before, assigned: false });
  return done('Managed Account Successfully Unassigned', accountBody(ctx, account, 'closing'));
}

const noAccount = refused(404, 'Dedicated account not found', 'dedicated_account_not_found');

/** GET /dedicated_account/requery: the deposits of the account that were not reported, which are known and reported then. */
export function requery(ctx: Context, { query }: Request): Transaction[] | null {
  const { account_number: number = '', provider_slug: slug } = query;
  const account = ctx.dedicated.all().find((each) => each.number === number);
  if (!account || account.slug !== slug) return null;
  return ctx.transactions
    .all()
    .filter(({ receiver }) => receiver?.account === number && !receiver.told)
    .map((each) => markTold(ctx, each));
}

const markTold = (ctx: Context, transaction: Transaction): Transaction =>
  ctx.transactions.put(transaction.reference, {
    ...transaction,
    hiddenUntil: 0,
    receiver: transaction.receiver && { ...transaction.receiver, told: true },
  });

/** The way in which money arrives. `tell`: a message reports it. `known`: Paystack has it before a requery asks the bank. */
export type Arrival = {
  sender?: string;
  narration?: string;
  tell?: boolean;
  known?: boolean;
  currency?: string;
  reference?: string;
};

/** Money arrives on an account, also on one that is closed or that nobody has. */
export function deposit(
  ctx: Context,
  account: string,
  amount: number,
  arrival: Arrival,
): Transaction {
  const { sender = 'Invented Sender', narration, currency = 'NGN', reference } = arrival;
  const { tell = true, known: isKnown = true } = arrival;
  const known = ctx.dedicated.all().find(({ number }) => number === account);
  const fees = Math.round(amount * FEE);
  return arrive(
    ctx,
    { amount, fees, email: known?.email ?? 'unknown@example.com', reference },
    {
      channel: 'dedicated_nuban',
      currency,
      hiddenUntil: isKnown ? 0 : Number.MAX_SAFE_INTEGER,
      receiver: { account, sender, narration: narration ?? null, told: tell && isKnown },
      metadata: { receiver_account_number: account, receiver_bank: 'Wema Bank' },
    },
  );
}

/** Somebody pays a page that was made on the dashboard. */
export const payElsewhere = (ctx: Context, amount: number): Transaction =>
  arrive(
    ctx,
    { amount, fees: Math.round(amount * FEE), email: 'payer@example.com' },
    { channel: 'card', metadata: { referrer: 'https://pay.example.com' } },
  );

function arrive(
  ctx: Context,
  arrival: { amount: number; fees: number; email: string; reference?: string | undefined },
  own: Partial<Transaction>,
): Transaction {
  const { amount, fees, email } = arrival;
  const reference = arrival.reference ?? `T${randomBytes(6).toString('hex')}`;
  const made = newTransaction(
    ctx,
    { reference, amount, email },
    { ...own, status: 'success', fees, gatewayResponse: 'Approved', paidAt: ctx.now() },
  );
  ctx.store.note({ kind: 'deposited', reference, amount, fee: fees });
  ctx.store.move(amount - fees, 'Transaction', ctx.transactions.get(reference)?.id);
  return made;
}

/** An account in an answer, a look-up, the answer to its closing, or a message. */
export function accountBody(
  ctx: Context,
  account: DedicatedAccount,
  form: 'answer' | 'look_up' | 'closing' | 'message',
) {
  const bank = BANKS.find(({ provider_slug: slug }) => slug === account.slug) ?? DEFAULT_BANK;
  const customer = ctx.customers.get(account.email);
  return {
    id: account.id,
    bank: { name: bank?.bank_name, id: bank?.bank_id, slug: account.slug },
    account_name: account.name,
    account_number: account.number,
    assigned: account.assigned,
    active: true,
    currency: 'NGN',
    created_at: account.createdAt,
    updated_at: account.createdAt,
    ...(form === 'look_up'
      ? { split_config: '{"subaccount":"ACCT_invented000001"}' }
      : { metadata: null, assignment: { integration: 428_626, assignee_type: 'Customer' } }),
    ...(customer &&
      (form === 'answer' || form === 'look_up') && { customer: holderBody(customer) }),
  };
}
