import { mapWithConcurrency } from '../../shared/concurrency.js';
import type { ApiError } from '../../shared/errors.js';
import { transferFee } from '../../shared/fees.js';
import {
  recipientOf,
  type AccountName,
  type EnquiryLimit,
  type NameEnquiry,
} from '../banks/index.js';
import type { TransferBody } from '../transfers/index.js';

/** Concurrent name enquiries, and the time for starting them. The items' workflows make the remaining ones. */
const ENQUIRIES_AT_ONCE = 32;
const ENQUIRIES_WITHIN_MS = 3_000;

/** A validated item, or the reason of its refusal. */
export type ReadItem = { body: TransferBody; amountMinor: bigint } | { error: ApiError };

/**
 * The name of an item's account; `refused` if the limit of name enquiries is used up. `isCounted`: the enquiry has counted
 * against it.
 */
export type ItemName = (AccountName & { isCounted?: true }) | { kind: 'refused'; error: ApiError };

/** The name of an item for which no enquiry was made. */
export const NO_NAME: AccountName = { kind: 'no_answer', bankName: null };

/**
 * Makes the name enquiries that can start within the time; the others are `no_answer`. No enquiry is made for an item that
 * the wallet cannot cover. An unknown account counts against the limit, and so does an item that the wallet covers only
 * if one before it is refused: nobody learns the holders of many accounts with the balance for one.
 */
export async function enquireNames(
  reads: readonly ReadItem[],
  given: { nameEnquiry: NameEnquiry; availableMinor: bigint; limit: EnquiryLimit },
): Promise<ItemName[]> {
  const { nameEnquiry, availableMinor, limit } = given;
  const end = performance.now() + ENQUIRIES_WITHIN_MS;
  let leftMinor = availableMinor;

  async function enquire(read: ReadItem): Promise<ItemName> {
    if ('error' in read) return NO_NAME;
    const totalMinor = read.amountMinor + transferFee(read.amountMinor);
    if (totalMinor > availableMinor || performance.now() > end) return NO_NAME;
    const error = limit.check();
    if (error) return { kind: 'refused', error };
    const isCovered = totalMinor <= leftMinor;
    if (isCovered) leftMinor -= totalMinor;
    else if (await limit.count()) return NO_NAME;
    const named = await nameEnquiry(recipientOf(read.body));
    if (!isCovered) return { ...named, isCounted: true };
    if (named.kind !== 'not_found') return named;
    leftMinor += totalMinor;
    const refusal = await limit.count();
    return refusal ? { kind: 'refused', error: refusal } : named;
  }

  return mapWithConcurrency(ENQUIRIES_AT_ONCE, reads, enquire);
}
