import { LRUCache } from 'lru-cache';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import type { ApiError } from '../../shared/errors.js';
import { transferFee } from '../../shared/fees.js';
import { lagosDay, usedOn, type Wallet } from '../../core/ledger/wallet.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { recipientOf, type AccountName, type BankParts } from '../banks/index.js';
import type { TransferBody } from './schema.js';

/** Concurrent name enquiries, and the time for starting them. The transfers' workflows make the remaining ones. */
const ENQUIRIES_AT_ONCE = 32;
const ENQUIRIES_WITHIN_MS = 3_000;

/** A tenant stays suspect for this time after an answer that led to no transfer. */
const SUSPECT_FOR_MS = 10 * 60_000;
const MAX_SUSPECTS = 10_000;

/** A validated transfer, or the reason of its refusal. */
export type ReadTransfer = { body: TransferBody; amountMinor: bigint } | { error: ApiError };

/** The names of the recipients of one request, and the counting of what its answer tells about them. */
export type Enquiries = {
  /**
   * Makes the name enquiries of the transfers that the commit is expected to accept, in the order of the request. The others
   * get `no_answer`, and so does everything beyond the limit of answers that lead to no transfer: such an account is never
   * `not_found`. A transfer that is accepted all the same gets its name from its workflow. A single transfer is expected to be
   * accepted, without a look at wallet and references, until an answer to this tenant has led to no transfer.
   */
  names(tenant: Tenant, transfers: readonly ReadTransfer[]): Promise<AccountName[]>;
  /** Counts the transfers that the commit refused although their account exists: the caller learns that from the refusal. */
  countRefused(tenant: Tenant, refused: readonly (AccountName | undefined)[]): Promise<void>;
};

/** The name of a transfer that is refused anyway. */
export const NO_NAME: AccountName = { kind: 'no_answer', bankName: null };

/** Creates the name enquiries of transfers. The two reads are of a moment before the commit, which decides by itself. */
export function createEnquiries(deps: {
  banks: Pick<BankParts, 'nameEnquiry' | 'unnamed' | 'enquiryLimit'>;
  readWallet: (tenantId: string) => Promise<Wallet>;
  /** Those of the references that a transfer of the tenant has. */
  takenReferences: (tenantId: string, references: string[]) => Promise<string[]>;
  clock?: () => Date;
}): Enquiries {
  const { banks, readWallet, takenReferences, clock = () => new Date() } = deps;
  const suspects = new LRUCache<string, true>({ max: MAX_SUSPECTS, ttl: SUSPECT_FOR_MS });

  async function expected(tenant: Tenant, transfers: readonly ReadTransfer[]): Promise<boolean[]> {
    if (transfers.length === 1 && !suspects.has(tenant.id)) return [true];
    const references = transfers.flatMap((each) => referenceOf(each) ?? []);
    const [wallet, taken] = await Promise.all([
      readWallet(tenant.id),
      references.length === 0 ? [] : takenReferences(tenant.id, references),
    ]);
    const dailyLimitMinor = tenant.limits.dailyMinor;
    return expectedAcceptances(transfers, { wallet, taken, dailyLimitMinor, now: clock() });
  }

  return {
    async names(tenant, transfers) {
      const end = performance.now() + ENQUIRIES_WITHIN_MS;
      const limit = banks.enquiryLimit(tenant);
      const accepted = await expected(tenant, transfers);

      async function enquire(read: ReadTransfer, index: number): Promise<AccountName> {
        if ('error' in read) return NO_NAME;
        const recipient = recipientOf(read.body);
        const isAsked = accepted[index] && performance.now() <= end && !limit.isUsedUp();
        if (!isAsked) return banks.unnamed(recipient);
        const named = await banks.nameEnquiry(recipient);
        if (named.kind !== 'not_found') return named;
        suspects.set(tenant.id, true);
        return (await limit.count()).allowed ? named : banks.unnamed(recipient);
      }

      return mapWithConcurrency(ENQUIRIES_AT_ONCE, transfers, enquire);
    },

    async countRefused(tenant, refused) {
      const known = refused.filter((named) => named?.kind === 'found').length;
      if (known === 0) return;
      suspects.set(tenant.id, true);
      await banks.enquiryLimit(tenant).count(known);
    },
  };
}

/**
 * Tells for each transfer whether the commit will accept it if its account exists: its reference is new, and the wallet and
 * the daily limit cover it after those before it. A caller who learns about accounts this way pays for each.
 */
function expectedAcceptances(
  transfers: readonly ReadTransfer[],
  given: { wallet: Wallet; taken: readonly string[]; dailyLimitMinor: bigint; now: Date },
): boolean[] {
  const { wallet, dailyLimitMinor, now } = given;
  const taken = new Set(given.taken);
  let leftMinor = wallet.availableMinor;
  let leftOfDayMinor = dailyLimitMinor - usedOn(wallet, lagosDay(now)).usedMinor;
  return transfers.map((read) => {
    if ('error' in read) return false;
    const { amountMinor } = read;
    const totalMinor = amountMinor + transferFee(amountMinor);
    const reference = referenceOf(read);
    if (reference !== undefined && taken.has(reference)) return false;
    if (totalMinor > leftMinor || amountMinor > leftOfDayMinor) return false;
    if (reference !== undefined) taken.add(reference);
    leftMinor -= totalMinor;
    leftOfDayMinor -= amountMinor;
    return true;
  });
}

const referenceOf = (read: ReadTransfer): string | undefined =>
  'error' in read ? undefined : read.body.reference;
