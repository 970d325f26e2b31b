import { invalidField } from '../../platform/http/validate.js';
import { ApiError } from '../../shared/errors.js';
import type { BillItem } from '../../core/providers/bill-provider.js';

const RETRY_AFTER_SECONDS = 5;

/** The refusal of a request that needs an answer of the provider, which gives none. */
export const billerUnavailable = () =>
  new ApiError('service_unavailable', {
    message: 'The biller does not answer now. Nothing was accepted: try again.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** The refusal of a customer whom the biller does not know. */
export const unknownCustomer = () =>
  new ApiError('invalid_account', {
    field: 'customer_reference',
    message: 'The biller does not know this customer reference.',
  });

/** The item of a biller. Throws `not_found` with the field that has no match. */
export function itemAmong(items: readonly BillItem[], itemId: string): BillItem {
  if (items.length === 0) throw unknown('biller_id', 'There is no such biller.');
  const item = items.find(({ id }) => id === itemId);
  if (!item) throw unknown('item_id', 'The biller has no such item.');
  return item;
}

const unknown = (field: string, message: string) => new ApiError('not_found', { field, message });

/** Throws a `validation_error` if the item cannot be paid with this amount. */
export function checkItemAmount(
  { fixedMinor, minMinor, maxMinor }: BillItem,
  amountMinor: bigint,
): void {
  const refuse = (rule: string) => invalidField('amount_minor', 'out_of_range', rule);
  if (fixedMinor !== null && amountMinor !== fixedMinor) {
    throw refuse(`must be ${fixedMinor}, the price of this item`);
  }
  if (amountMinor < minMinor) throw refuse(`must be at least ${minMinor} for this item`);
  if (amountMinor > maxMinor) throw refuse(`must be at most ${maxMinor} for this item`);
}
