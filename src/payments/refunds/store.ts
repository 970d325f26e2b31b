import type { Filter } from 'mongodb';
import type { Database } from '../../database/client.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { PursuitFact } from '../../pursuits/facts.js';
import type { PursuedRecord } from '../../pursuits/record.js';
import { pursuedRecords } from '../../pursuits/store.js';
import type {
  AcceptRefundItem,
  AcceptRefundOutcome,
  RefundFactOutcome,
  RefundKey,
} from './items.js';
import type { Refund } from './refund.js';

export type Refunds = ReturnType<typeof createRefunds>;

/** The store of refunds. Money, states and events change only through commits. */
export function createRefunds(
  { db }: Database,
  groupCommit: GroupCommit,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<Refund>('refunds');
  return {
    ...pursuedRecords<Refund>({
      collection: db.collection<PursuedRecord>('refunds'),
      clock,
      sweepSlackMs,
    }),

    accept: (item: AcceptRefundItem): Promise<AcceptRefundOutcome> => groupCommit.commit(item),

    /** Applies what became known, through the state guard; the answer is the refund as it stands then. */
    applyFact: (
      { tenant, _id: id, charge }: RefundKey,
      fact: PursuitFact,
    ): Promise<RefundFactOutcome> =>
      groupCommit.commit({ kind: 'refundFact', tenant, id, charge, fact }),

    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    byReference: (tenant: string, reference: string) => collection.findOne({ tenant, reference }),

    /** By our id alone: for operators, and for providers' messages, which know no tenant. */
    find: (id: string) => collection.findOne({ _id: id }),

    ended: (ids: string[]): Promise<Refund[]> =>
      collection
        .find({ _id: { $in: ids }, status: { $in: ['completed', 'failed'] } } as Filter<Refund>, {
          projection: { timeline: 0 },
        })
        .toArray(),

    /** For operators, over all tenants: the latest first, or those first that have waited longest. */
    latest: ({ attention, limit }: { attention: boolean; limit: number }): Promise<Refund[]> =>
      collection
        .find(attention ? { 'attention.since': { $type: 'date' } } : {}, {
          projection: { timeline: 0 },
        })
        .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(limit)
        .toArray(),
  };
}
