import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { AcceptResult } from '../../core/commit/saved-response.js';
import { createPaymentToken, type CreatePaymentToken } from './mutations.js';
import type { PaymentToken } from './payment-token.js';

/** The store of payment tokens. */
export type Tokens = ReturnType<typeof createTokens>;

/** Creates the store of payment tokens. Commits create and bind them. */
export function createTokens({ db }: Database, groupCommit: GroupCommit) {
  const collection = db.collection<PaymentToken>('payment_tokens');
  return {
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    create: (input: CreatePaymentToken): Promise<AcceptResult> =>
      groupCommit.commit(createPaymentToken, input),

    /** Lists the tokens of a customer, newest first. */
    async list(
      tenantId: string,
      customer: string,
      { page, limit }: { page: number; limit: number },
    ) {
      const filter = { tenant_id: tenantId, 'customer.id': customer };
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
