import { z } from 'zod';
import { clientReference, errorAnswer, reference, requestedAt } from '../shared/wire.js';
import type { Biller, Item } from './catalogue.js';
import type { Bill } from './state.js';

const name = z.string().regex(/^[a-z0-9-]{1,64}$/);
const customer = {
  biller: name,
  item: name,
  customer_reference: z.string().min(1).max(64),
};

/** The body of a validation. */
export const customerBody = z.strictObject(customer);

/** A customer of a biller. */
export type Customer = z.infer<typeof customerBody>;

/** The body of a request to pay a bill. */
export const billBody = z.strictObject({
  reference,
  client_reference: clientReference,
  ...customer,
  amount_minor: z.int().min(1),
  currency: z.literal('NGN'),
  requested_at: requestedAt,
});

/** Presents a biller without its items. */
export const presentBiller = ({ id, name: title, category, ...biller }: Biller) => ({
  id,
  name: title,
  category,
  customer_reference_name: biller.customer_reference_name,
});

/** Presents an item. */
export const presentItem = ({ unit_price_minor: unitPrice, ...item }: Item) => ({
  ...item,
  gives_token: unitPrice !== null,
});

/** Presents a bill, never with its customer. `isWithheld`: as it was before its outcome. */
export function presentBill(bill: Bill, isWithheld: boolean) {
  const { order, createdAt, updatedAt } = bill;
  const isOpen = isWithheld || bill.status === 'pending';
  return {
    reference: order.reference,
    client_reference: order.client_reference,
    status: isOpen ? 'pending' : bill.status,
    amount_minor: isOpen ? order.amount_minor : bill.amountMinor,
    currency: order.currency,
    receipt: isOpen ? null : bill.receipt,
    code: isOpen ? null : bill.code,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(isOpen ? createdAt : updatedAt).toISOString(),
  };
}

/** The answer about a bill that nobody has ordered. */
export const noSuchBill = () =>
  errorAnswer(404, 'bill_not_found', 'there is no bill with this reference');
