import { Counter, type Registry } from 'prom-client';
import type { ObserveClaims } from '../database/claims.js';

/**
 * Registers the counts of claims: work that one process at a time does. They are 0 for each of these collections from the start,
 * because Prometheus sees no increase in the first sample of a series.
 */
export function measureClaims(registry: Registry, collections: readonly string[]): ObserveClaims {
  const counter = (name: string, help: string) => {
    const made = new Counter({ name, help, labelNames: ['collection'], registers: [registry] });
    for (const collection of collections) made.inc({ collection }, 0);
    return (collection: string, count = 0) => made.inc({ collection }, count);
  };
  const claimed = counter('bursar_claims_total', 'Documents that this process has claimed.');
  const expired = counter(
    'bursar_claims_expired_total',
    'Claimed documents whose earlier claim had run out: its process died, or was too slow.',
  );
  const released = counter(
    'bursar_claims_released_total',
    'Claimed documents that were given back, because Temporal was away.',
  );
  return (collection, counts) => {
    claimed(collection, counts.claimed);
    expired(collection, counts.expired);
    released(collection, counts.released);
  };
}
