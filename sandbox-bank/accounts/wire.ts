import { z } from 'zod';
import { findBank } from '../shared/directory.js';
import { clientReference, errorAnswer, reference, requestedAt } from '../shared/wire.js';
import type { Account } from './account-state.js';
import { WRONG_BY_MINOR } from './behaviours.js';
import type { Deposit } from './deposit-state.js';

/** The bank of accounts that name no other. */
const OWN_BANK = '035';

/** The body of a request for a virtual account. */
export const accountBody = z.strictObject({
  reference,
  client_reference: clientReference,
  account_name: z.string().min(1).max(100),
  bank_code: z
    .string()
    .regex(/^[0-9]{3,6}$/)
    .nullable(),
  currency: z.literal('NGN'),
  requested_at: requestedAt,
});

/** The body of a closing. */
export const closeBody = z.strictObject({ requested_at: requestedAt });

/** The body of a request for another report of an account's deposits. */
export const requeryBody = z.strictObject({ day: z.iso.date() });

/** The body of a return. */
export const returnBody = z.strictObject({
  marker: reference,
  amount_minor: z.int().min(1),
  requested_at: requestedAt,
});

/** The query of the list of deposits. */
export const depositsQuery = z.strictObject({
  from: requestedAt,
  to: requestedAt,
  account_number: z.string().optional(),
  cursor: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(100),
});

/** The body of the control that sends money to an account. Amounts and currencies that no bank would send are allowed. */
export const depositBody = z.strictObject({
  amount_minor: z.int(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .default('NGN'),
  sender_name: z.string().min(1).max(100).default('Ada Obi'),
  session_id: z
    .string()
    .regex(/^[0-9A-Za-z-]{1,64}$/)
    .optional(),
  /** The event is sent so often. */
  times: z.int().min(1).max(50).default(1),
  tell: z.enum(['callback', 'nobody']).default('callback'),
});

/** The body of the control that decides a pending account. */
export const setAccountBody = z.strictObject({ outcome: z.enum(['opened', 'failed', 'closed']) });

/** The bank of an account. Null: no bank has the wished code. */
export const bankOf = (code: string | null) => findBank(code ?? OWN_BANK) ?? null;

/** The public form of an account. */
export function presentAccount(
  { order, status, accountNumber, code }: Account,
  isWithheld = false,
) {
  const { reference: own, account_name, client_reference } = order;
  const bank = bankOf(order.bank_code);
  const about = { reference: own, client_reference, currency: order.currency };
  if (isWithheld || status === 'pending') return { ...about, status: 'pending' };
  if (status === 'refused') return { ...about, status, code };
  const face = { account_number: accountNumber, account_name, bank_name: bank?.name };
  return { ...about, status, ...face, bank_code: bank?.code };
}

/** The public form of a deposit. The event of the sender 007 names another amount. */
export function presentDeposit({ id, accountNumber, order, ...deposit }: Deposit, isEvent = false) {
  const isWrong = isEvent && deposit.behaviour === 'told_with_another_amount';
  return {
    deposit: id,
    status: deposit.status,
    account_number: accountNumber,
    amount_minor: order.amount_minor + (isWrong ? WRONG_BY_MINOR : 0),
    fee_minor: null,
    currency: order.currency,
    session_id: order.session_id,
    sender: { name: order.sender_name, account: '0690000031', bank: 'Access Bank' },
    narration: `Transfer from ${order.sender_name}`,
    received_at: new Date(deposit.receivedAt).toISOString(),
  };
}

/** The answer if there is no such account. */
export const noSuchAccount = () =>
  errorAnswer(404, 'account_not_found', 'there is no such virtual account');

/** The answer if there is no such deposit. */
export const noSuchDeposit = () =>
  errorAnswer(404, 'deposit_not_found', 'there is no such deposit');
