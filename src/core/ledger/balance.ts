import type { Database } from '../../platform/database/client.js';
import { accounts } from './posting.js';
import { ledgerCollections } from '../commit/store.js';

/** The balances of a wallet as sums of its postings: available, held, and the receivable that later credits pay. */
export async function readBalance({ db }: Database, tenantId: string) {
  const sums = await ledgerCollections(db)
    .postings.aggregate<{ _id: string; sum: bigint }>([
      { $match: { tenant_id: tenantId } },
      { $unwind: '$legs' },
      { $group: { _id: '$legs.account', sum: { $sum: '$legs.amount_minor' } } },
    ])
    .toArray();
  const of = (account: string) => sums.find(({ _id }) => _id === account)?.sum ?? 0n;
  return {
    availableMinor: of(accounts.available(tenantId)),
    heldMinor: of(accounts.held(tenantId)),
    receivableMinor: -of(accounts.receivable(tenantId)),
  };
}
