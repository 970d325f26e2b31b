import { mapWithConcurrency } from '../../shared/concurrency.js';
import type { PlannedMutation } from './mutation.js';

/** Transactions of one lane at once. The client has 50 connections for all lanes. */
const MAX_AT_ONCE = 8;

/**
 * Commits a batch as one transaction for each tenant, several at once. A tenant is on one shard, so each of these
 * transactions ends there. One for all tenants would need a two-phase commit.
 */
export const byTenant =
  <Attempt>(commit: (batch: PlannedMutation[]) => Promise<Attempt[]>) =>
  async (batch: PlannedMutation[]): Promise<Attempt[]> => {
    const groups = new Map<string, number[]>();
    for (const [at, { input }] of batch.entries()) {
      groups.set(input.tenantId, [...(groups.get(input.tenantId) ?? []), at]);
    }
    const attempts: Attempt[] = [];
    await mapWithConcurrency(MAX_AT_ONCE, [...groups.values()], async (positions) => {
      const own = await commit(positions.map((at) => batch[at] as PlannedMutation));
      positions.forEach((at, i) => (attempts[at] = own[i] as Attempt));
    });
    return attempts;
  };
