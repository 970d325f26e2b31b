import type { Db } from 'mongodb';

/** A database that has not answered a write for this long counts as unavailable. */
const UNRESPONSIVE_AFTER_MS = 2_000;

/** Tells whether the database currently accepts writes. */
export type WriteProbe = ReturnType<typeof createWriteProbe>;

/**
 * Creates a probe that tells whether the database acknowledges writes on a majority and on disk. It is needed because a
 * frozen database keeps its connections open. The probe writes only when a caller has a reason for doubt. Its write
 * changes nothing, but waits for the same acknowledgement as any other.
 */
export function createWriteProbe(
  { db }: { db: Db },
  { unresponsiveAfterMs = UNRESPONSIVE_AFTER_MS }: { unresponsiveAfterMs?: number } = {},
) {
  const keys = db.collection<{ _id: string }>('idempotency_keys');
  let startedAt: number | null = null;
  let failed = false;

  async function write(): Promise<void> {
    try {
      await keys.updateOne({ _id: 'write-probe' }, { $unset: { nothing: '' } });
      failed = false;
    } catch {
      failed = true;
    }
    startedAt = null;
  }

  return {
    /** Starts a write, unless one is in progress. */
    probe(): void {
      if (startedAt !== null) return;
      startedAt = performance.now();
      void write();
    },
    /** True if the last write failed, or the current one has had no answer for `unresponsiveAfterMs`. */
    isUnresponsive: (): boolean =>
      failed || (startedAt !== null && performance.now() - startedAt >= unresponsiveAfterMs),
  };
}
