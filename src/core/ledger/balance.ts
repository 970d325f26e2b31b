import type { Database } from '../../platform/database/client.js';
import { accounts } from './posting.js';
import { ledgerCollections } from '../commit/store.js';

/** What a wallet's postings sum up to: what can be spent, what is held, and what is owed and taken from later credits. */
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
    owedMinor: -of(accounts.receivable(tenantId)),
  };
}
