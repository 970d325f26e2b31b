import { expireCard } from './mutations.js';
import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { monthOf, type Card } from '../cards/card.js';

/** Ends cards whose month is over, oldest first; answers how many were found. Several workers may do it at once. */
export function createCardExpiry({
  db,
  groupCommit,
  clock = () => new Date(),
}: {
  db: Database['db'];
  groupCommit: GroupCommit;
  clock?: () => Date;
}) {
  const collection = db.collection<Card>('cards');
  return async (limit: number): Promise<{ found: number; expired: number }> => {
    const { year, month } = monthOf(clock());
    const due = await collection
      .find(
        {
          status: { $in: ['active', 'locked'] },
          $or: [
            { 'issued.expiry_year': { $lt: year } },
            { 'issued.expiry_year': year, 'issued.expiry_month': { $lt: month } },
          ],
        },
        { projection: { tenant_id: 1 } },
      )
      .sort({ 'issued.expiry_year': 1, 'issued.expiry_month': 1 })
      .limit(limit)
      .toArray();
    const ended = await Promise.all(
      due.map(({ _id: card, tenant_id: tenantId }) =>
        groupCommit.commit(expireCard, { tenantId, card }),
      ),
    );
    return { found: due.length, expired: ended.filter(({ expired }) => expired).length };
  };
}
