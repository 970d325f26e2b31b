import { recheckState } from './locks.js';
import { expireCard } from './mutations.js';
import type { Database } from '../../platform/database/client.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { monthOf, type Card } from '../cards/record.js';

/**
 * Creates the function that expires cards after their last month, the oldest first, at most `limit` at once. Several workers
 * may run it at the same time: the mutation ignores cards that have ended already.
 */
export function createCardExpiry({
  db,
  groupCommit,
}: {
  db: Database['db'];
  groupCommit: GroupCommit;
}) {
  const collection = db.collection<Card>('cards');
  return async (limit: number): Promise<{ found: number; expired: number }> => {
    const { year, month } = monthOf(new Date());
    const pastExpiry = await collection
      .find(
        {
          status: { $in: ['active', 'locked'] },
          $or: [
            { 'issued.expiry_year': { $lt: year } },
            { 'issued.expiry_year': year, 'issued.expiry_month': { $lt: month } },
          ],
        },
        { projection: { tenant_id: 1 }, ...acrossTenants('loop') },
      )
      .sort({ 'issued.expiry_year': 1, 'issued.expiry_month': 1 })
      .limit(limit)
      .toArray();
    const ended = await Promise.all(
      pastExpiry.map(({ _id: card, tenant_id: tenantId }) =>
        groupCommit.commit(expireCard, { tenantId, card }),
      ),
    );
    return { found: pastExpiry.length, expired: ended.filter(({ expired }) => expired).length };
  };
}

/**
 * Creates the function that has the state of cards read once more at their issuer, at most `limit` at once: a request that
 * was not answered may have been executed late. Several workers may run it at the same time.
 */
export function createStateRechecks({
  db,
  groupCommit,
  recheckMs,
}: {
  db: Database['db'];
  groupCommit: GroupCommit;
  recheckMs: number;
}) {
  const collection = db.collection<Card>('cards');
  return async (limit: number): Promise<number> => {
    const until = new Date(Date.now() - recheckMs);
    const due = await collection
      .find(
        { 'state_control.doubted_at': { $lte: until, $type: 'date' } },
        { projection: { tenant_id: 1 }, ...acrossTenants('loop') },
      )
      .limit(limit)
      .toArray();
    await Promise.all(
      due.map(({ _id: card, tenant_id: tenantId }) =>
        groupCommit.commit(recheckState, { tenantId, card }),
      ),
    );
    return due.length;
  };
}
