import { createLane } from '../../shared/batching.js';
import type { Database } from '../../platform/database/client.js';
import { BY_ID, ownedFilter } from '../../platform/database/tenant-filters.js';
import { fieldIs } from '../../platform/sealing/sealed-fields.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { ApiError } from '../../shared/errors.js';
import {
  isSameRequest,
  type SavedResponse,
  type KeyClaim,
  type ClaimedKey,
} from '../commit/accept.js';
import { ledgerCollections, toClaimedKey } from '../commit/store.js';
import { idempotencyKeysCollection } from '../ledger/collections.js';

/** The lookup of idempotency keys. */
export type Idempotency = ReturnType<typeof createIdempotency>;

/** Looks up keys before any provider is called. A key is claimed only in the commit of the record that it protects. */
export function createIdempotency({ db }: Database, sealing: Pick<Sealing, 'blindIndexes'>) {
  const { keys } = ledgerCollections(db);
  const lookUps = createLane<{ id: string; tenantId: string }, ClaimedKey | null>({
    async run(wanted) {
      const found = await keys.find(ownedFilter(wanted), BY_ID).toArray();
      const byId = new Map(found.map((document) => [document._id, toClaimedKey(document)]));
      return wanted.map(({ id }) => byId.get(id) ?? null);
    },
    maxBatch: 256,
    maxWaiting: 4_096,
    maxWaitMs: 4_000,
  });

  return {
    /** The first answer to this very request, or null. Throws `idempotency_key_reused` for another request. */
    async findResponse(
      tenantId: string,
      claim: KeyClaim,
    ): Promise<{ answer: SavedResponse; resource: string | null; replayed: true } | null> {
      const found = await lookUps.enqueue({ tenantId, id: claim.id });
      if (!found || found.expiresAt <= new Date()) return null;
      if (!isSameRequest(claim, found)) throw new ApiError('idempotency_key_reused');
      return { answer: found.answer, resource: found.resource, replayed: true };
    },

    /** Replaces the response under a key. False if it is no longer this one. */
    async replace(
      tenantId: string,
      { id }: KeyClaim,
      saved: SavedResponse,
      next: SavedResponse,
    ): Promise<boolean> {
      const isSaved = fieldIs(sealing, idempotencyKeysCollection, 'body', saved.body);
      const { matchedCount } = await keys.updateOne(
        { _id: id, tenant_id: tenantId, ...isSaved },
        { $set: { body: next.body } },
      );
      return matchedCount === 1;
    },
  };
}
