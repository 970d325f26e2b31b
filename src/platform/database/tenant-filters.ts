import type { FindCursor } from 'mongodb';

/** A document by its tenant and its id. */
export type Owned = { tenantId: string; id: string };

/** The filter for documents of these tenants. A mongos sends it to the shards of the tenants alone. */
export const ownedFilter = (owned: readonly Owned[]) => ({
  tenant_id: { $in: [...new Set(owned.map(({ tenantId }) => tenantId))] },
  _id: { $in: [...new Set(owned.map(({ id }) => id))] },
});

/** The hint for `ownedFilter`: without it the server also tries the indexes that begin with the tenant. */
export const BY_ID = { hint: { _id: 1 } } as const;

/** The reasons for which a command on data of tenants names none of them. */
const REASONS = {
  /** Loops of processes over due, overdue, open, stalled, old or expired records. */
  loop: 'all tenants: loop',
  /** A record whose id a provider's message or an operator gives, without the tenant. */
  look_up: 'all tenants: look-up',
  /** Lists, metrics, checks and audits for operators. */
  report: 'all tenants: report',
} as const;

/** The comments of commands that name no tenant. */
export const ACROSS_TENANTS: readonly string[] = Object.values(REASONS);

/**
 * The option of a command on data of tenants that names none of them: a comment with the reason, which the server's log
 * shows too. A mongos asks every shard. No request of a tenant may depend on such a command.
 */
export const acrossTenants = (reason: keyof typeof REASONS) => ({ comment: REASONS[reason] });

/**
 * The document that a name without a tenant stands for; null if there is none, or if documents of two tenants have it: no
 * unique index spans tenants.
 */
export async function onlyOne<T>(found: FindCursor<T>): Promise<T | null> {
  const [first, second] = await found.limit(2).toArray();
  return first !== undefined && second === undefined ? first : null;
}
