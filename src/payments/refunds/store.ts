import type { Database } from '../../database/client.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { RefusalItem } from '../../ledger/kinds.js';
import type { PursuitFact } from '../../pursuits/facts.js';
import type { PursuedRecord } from '../../pursuits/record.js';
import { pursuedRecords } from '../../pursuits/store.js';
import type { AcceptRefundItem, RefundFactOutcome, RefundKey } from './items.js';
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

    accept: <I extends AcceptRefundItem | RefusalItem>(item: I) => groupCommit.commit(item),

    /** Applies what became known, through the state guard; the answer is the refund as it stands then. */
    applyFact: (
      { tenant, _id: id, charge }: RefundKey,
      fact: PursuitFact,
    ): Promise<RefundFactOutcome> =>
      groupCommit.commit({ kind: 'refundFact', tenant, id, charge, fact }),

    byReference: (tenant: string, reference: string) => collection.findOne({ tenant, reference }),
  };
}
