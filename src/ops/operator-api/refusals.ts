import type { Act } from '../../core/audit/entry.js';
import type { Audit } from '../../core/audit/store.js';

/** Entries for refused requests of one operator in a minute. Further ones are counted. */
const ENTRIES_A_MINUTE = 10;
const MINUTE_MS = 60_000;

/** The entries of an operator since a time, and the refused requests since the last entry that have none. */
type Count = { since: number; entries: number; unrecorded: number };

/** Writes the refused request of a known operator to the audit log; `refused` is the reason. */
export type Refusals = (act: Act, refused: string) => Promise<void>;

/**
 * Creates the record of refused requests. Each operator has a few entries a minute, the next of which has the number of those
 * that were left out: whoever holds an old key can neither fill the audit log nor keep the acts of others from their turn. The log
 * of the process has every refused request.
 */
export function createRefusals(
  audit: Pick<Audit, 'record'>,
  clock: () => number = Date.now,
): Refusals {
  const counts = new Map<string, Count>();
  return async (act, refused) => {
    const now = clock();
    const id = act.actor.operator ?? act.actor.name;
    const known = counts.get(id);
    const { unrecorded = 0 } = known ?? {};
    const isFresh = known !== undefined && now - known.since < MINUTE_MS;
    const { since, entries } = isFresh ? known : { since: now, entries: 0 };
    if (entries >= ENTRIES_A_MINUTE) {
      counts.set(id, { since, entries, unrecorded: unrecorded + 1 });
      return;
    }
    counts.set(id, { since, entries: entries + 1, unrecorded: 0 });
    await audit.record(act, { after: { refused, ...(unrecorded > 0 && { unrecorded }) } });
  };
}
