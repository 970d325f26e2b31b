import type { Database } from '../../database/client.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { AcceptOutcome } from '../../ledger/view.js';
import type { CreateTokenItem } from './items.js';
import type { PaymentToken } from './token.js';

export type Tokens = ReturnType<typeof createTokens>;

/** The store of payment tokens. They are made and bound by commits. */
export function createTokens({ db }: Database, groupCommit: GroupCommit) {
  const collection = db.collection<PaymentToken>('payment_tokens');
  return {
    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    create: (item: CreateTokenItem): Promise<AcceptOutcome> => groupCommit.commit(item),

    /** A customer's, newest first. */
    async list(tenant: string, customer: string, { page, limit }: { page: number; limit: number }) {
      const filter = { tenant, 'customer.id': customer };
      const [items, total] = await Promise.all([
        collection
          .find(filter)
          .sort({ created_at: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter),
      ]);
      return { items, total };
    },
  };
}
