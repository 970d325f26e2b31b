import { randomBytes } from 'node:crypto';
import { done, refused, type Answer } from './answers.js';
import { bankOf } from './banks.js';
import type { Context } from './context.js';
import type { Request } from './http.js';
import type { Customer } from './records.js';

/** POST /customer. A known address gets its customer back. */
export function createCustomer(ctx: Context, { body }: Request): Answer {
  const { email, first_name: first, last_name: last, phone } = body as Record<string, string>;
  if (typeof email !== 'string' || !/^[^@ ]+@[^@ ]+\.[a-z]+$/.test(email)) {
    return refused(400, 'Invalid Email Address Passed', 'invalid_params');
  }
  const known = ctx.customers.get(email.toLowerCase());
  const customer = known ?? {
    id: ctx.id('customer'),
    code: `CUS_${randomBytes(8).toString('hex').slice(0, 15)}`,
    email: email.toLowerCase(),
    firstName: first ?? null,
    lastName: last ?? null,
    phone: phone ?? null,
    identified: false,
    createdAt: ctx.now(),
  };
  ctx.customers.put(customer.email, customer);
  return done('Customer created', {
    transactions: [],
    subscriptions: [],
    authorizations: [],
    ...customerBody(ctx, customer),
  });
}

/** The customer of an address or a code. */
export const customerOf = (ctx: Context, name: string): Customer | undefined =>
  ctx.customers.get(name.toLowerCase()) ?? ctx.customers.all().find(({ code }) => code === name);

/** GET /customer/{email or code}. */
export function getCustomer(ctx: Context, { parameter }: Request): Answer {
  const customer = customerOf(ctx, parameter);
  if (!customer) return refused(404, 'Customer not found', 'customer_not_found');
  return done('Customer retrieved', {
    transactions: [],
    subscriptions: [],
    authorizations: [],
    ...customerBody(ctx, customer),
    created_at: customer.createdAt,
    updated_at: customer.createdAt,
    total_transactions: 0,
    total_transaction_value: [],
    dedicated_account: null,
    dedicated_accounts: [],
  });
}

const customerBody = (ctx: Context, customer: Customer) => ({
  ...holderBody(customer),
  domain: ctx.domain,
  integration: 428_626,
  createdAt: customer.createdAt,
  updatedAt: customer.createdAt,
  identified: customer.identified,
  identifications: null,
});

/** Accounts whose validation is told to nobody, by their last three digits. */
const SILENT = new Set(['004', '005']);

/**
 * POST /customer/{code}/identification. The last three digits of the account choose the result, which comes later: 002 does
 * not match, 004 is told to nobody, 005 never ends, 006 fails for another reason.
 */
export function identify(ctx: Context, { parameter, body }: Request): Answer {
  const customer = customerOf(ctx, parameter);
  if (!customer) return refused(404, 'Customer not found', 'customer_not_found');
  const { type, bvn, account_number: account, bank_code: bank } = body as Record<string, string>;
  if (type !== 'bank_account' || body['country'] !== 'NG') {
    return refused(400, 'Identification type is not supported', 'invalid_params');
  }
  if (!/^[0-9]{11}$/.test(bvn ?? '') || bvn === '00000000000') return refused(400, 'Invalid BVN');
  if (!bankOf(bank ?? '')) return refused(400, 'Unknown bank code');
  if (customer.identified) {
    return refused(400, 'Customer already validated using the same credentials');
  }
  const digits = (account ?? '').slice(-3);
  if (digits !== '005') {
    const id = ctx.id('planned');
    const [dueAt, key] = [Date.now() + ctx.stepMs, customer.email];
    ctx.planned.put(String(id), { id, dueAt, does: 'identify', key, status: digits });
  }
  const message = 'Customer Identification in progress';
  return { status: 202, body: { status: true, message } };
}

/** The result of a validation. `event`: null if nobody is told. */
export function conclude(ctx: Context, email: string, digits: string) {
  const customer = ctx.customers.get(email);
  if (!customer) return null;
  const isFailed = digits === '002' || digits === '006';
  if (!isFailed) ctx.customers.put(email, { ...customer, identified: true });
  const reason =
    digits === '002' ? 'Account number or BVN is incorrect' : 'Issuer is not available';
  return {
    event: SILENT.has(digits) ? null : isFailed ? 'failed' : 'success',
    data: {
      // A text in one of the two events, a number in the other.
      customer_id: isFailed ? customer.id : String(customer.id),
      customer_code: customer.code,
      email: customer.email,
      identification: {
        country: 'NG',
        type: 'bank_account',
        bvn: '222*****901',
        account_number: '012****789',
        bank_code: '058',
      },
      ...(isFailed && { reason }),
    },
  };
}

/** A customer inside another body. */
export const holderBody = (customer: Customer) => ({
  id: customer.id,
  first_name: customer.firstName,
  last_name: customer.lastName,
  email: customer.email,
  customer_code: customer.code,
  phone: customer.phone,
  metadata: {},
  risk_action: 'default',
  international_format_phone: customer.phone,
});
