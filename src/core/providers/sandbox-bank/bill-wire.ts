import { z } from 'zod';
import type { BillState } from '../bill-provider.js';
import { amount, code } from './wire.js';

const id = z.string().regex(/^[a-z0-9-]{1,64}$/);
const name = z.string().min(1).max(200);

/** The bank's categories of billers. */
export const categoriesAnswer = z.object({ categories: z.array(z.object({ id, name })) });

/** The bank's billers. */
export const billersAnswer = z.object({
  billers: z.array(z.object({ id, name, category: id, customer_reference_name: name })),
});

/** The items of a biller. */
export const itemsAnswer = z.object({
  items: z.array(
    z.object({
      id,
      name,
      amount_minor: amount.nullable(),
      min_amount_minor: amount,
      max_amount_minor: amount,
      gives_token: z.boolean(),
    }),
  ),
});

/** The answer about a customer of a biller. */
export const customerAnswer = z.object({ customer_name: z.string().min(1).max(200).nullable() });

const receipt = z
  .object({
    token: z.string().min(1).max(100).nullable(),
    units: z.string().min(1).max(40).nullable(),
  })
  .nullable();

/** The bank's answer about a bill, also in its messages. */
export const billAnswer = z.object({
  reference: z.string().min(1).max(200),
  status: z.enum(['pending', 'paid', 'refused', 'reversed']),
  amount_minor: amount,
  currency: z.literal('NGN'),
  receipt,
  code,
});

/** The bank's refusal codes, mapped to ours. Any other code becomes `provider_declined`. */
const REFUSALS = new Map([['no_such_customer', 'invalid_account']]);

/** Converts the bank's state of a bill. */
export function billState(bill: z.output<typeof billAnswer>): BillState {
  const { status, amount_minor: amountMinor, receipt: given } = bill;
  switch (status) {
    case 'pending':
      return { kind: 'pending' };
    case 'refused':
      return { kind: 'rejected', code: REFUSALS.get(bill.code ?? '') ?? 'provider_declined' };
    case 'paid': {
      const isEmpty = given === null || (given.token === null && given.units === null);
      return { kind: 'succeeded', amountMinor, receipt: isEmpty ? null : given };
    }
    case 'reversed':
      return { kind: 'reversed', amountMinor };
  }
}
