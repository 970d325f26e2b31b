import { z } from 'zod';
import type { AccountState, ProviderDeposit } from '../account-provider.js';
import type { PaymentState } from '../transfer-provider.js';
import { amount, code } from './wire.js';

/** The wire format of virtual accounts and deposits. Fields that money depends on are read strictly. */

/** An id starts with a letter, so no account number can pass as one. */
const id = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,199}$/);
const accountNumber = z.string().regex(/^[0-9]{10}$/);
const currency = z.string().regex(/^[A-Z]{3}$/);
const positive = amount.refine((value) => value > 0n);
const text = z.string().min(1).max(200);

const face = {
  account_number: accountNumber,
  account_name: text,
  bank_name: text,
  bank_code: z
    .string()
    .regex(/^[0-9]{3,6}$/)
    .nullable(),
};

/** The bank's answer about a virtual account. */
export const accountAnswer = z.discriminatedUnion('status', [
  z.object({ reference: z.string(), status: z.literal('pending') }),
  z.object({ reference: z.string(), status: z.literal('assigned'), ...face }),
  z.object({ reference: z.string(), status: z.literal('refused'), code }),
  z.object({ reference: z.string(), status: z.literal('closed') }),
]);

/** The bank's answer about a deposit. */
export const depositAnswer = z.object({
  deposit: id,
  status: z.enum(['received', 'reversed']),
  account_number: accountNumber,
  amount_minor: positive,
  fee_minor: amount.nullable(),
  currency,
  session_id: z
    .string()
    .regex(/^[0-9A-Za-z-]{1,64}$/)
    .nullable(),
  sender: z.object({
    name: text.nullable(),
    account: z.string().max(34).nullable(),
    bank: text.nullable(),
  }),
  narration: z.string().max(500).nullable(),
  received_at: z.iso.datetime({ offset: true }),
});

/** The data of a message about a deposit. Its amount is a claim only. */
export const depositData = z.object({
  deposit: id,
  account_number: accountNumber,
  amount_minor: z.int(),
});

/** The bank's page of deposits. Each is read by itself, so that an unreadable one hides no other. */
export const depositsAnswer = z.object({
  deposits: z.array(z.unknown()),
  next: z.int().min(0).nullable(),
});

/** The bank's answer about a return. */
export const returnAnswer = z.object({
  deposit: id,
  marker: z.string(),
  amount_minor: amount,
  currency: z.literal('NGN'),
  status: z.enum(['returned', 'refused']),
});

/** The bank's answer to a requery. */
export const requeryAnswer = z.object({ requested: z.literal(true) });

const REFUSALS = new Set(['not_eligible', 'no_such_bank']);

/** Converts the bank's answer about an account. The sandbox bank names accounts by our reference. */
export function accountState(account: z.infer<typeof accountAnswer>): AccountState {
  switch (account.status) {
    case 'pending':
      return { kind: 'pending' };
    case 'closed':
      return { kind: 'closed' };
    case 'refused': {
      const theirs = account.code ?? '';
      return { kind: 'rejected', code: REFUSALS.has(theirs) ? theirs : 'provider_declined' };
    }
    case 'assigned':
      return {
        kind: 'assigned',
        handle: account.reference,
        accountNumber: account.account_number,
        accountName: account.account_name,
        bankName: account.bank_name,
        bankCode: account.bank_code,
      };
  }
}

/** Converts the bank's answer about a deposit. */
export const depositOf = (deposit: z.infer<typeof depositAnswer>): ProviderDeposit => ({
  id: deposit.deposit,
  accountNumber: deposit.account_number,
  amountMinor: deposit.amount_minor,
  feeMinor: deposit.fee_minor,
  currency: deposit.currency,
  sessionId: deposit.session_id,
  sender: deposit.sender,
  narration: deposit.narration,
  receivedAt: new Date(deposit.received_at),
});

/** Converts the bank's answer about a return. */
export const returnState = (returned: z.infer<typeof returnAnswer>): PaymentState =>
  returned.status === 'refused'
    ? { kind: 'rejected', code: 'return_refused' }
    : { kind: 'succeeded', amountMinor: returned.amount_minor, sessionId: null };
