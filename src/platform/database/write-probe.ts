import type { Db } from 'mongodb';

/** A database that has not answered for so long is away, or as good as that. */
const UNRESPONSIVE_AFTER_MS = 2_000;

export type WriteProbe = ReturnType<typeof createWriteProbe>;

/**
 * Whether the database takes writes just now, on a majority and on disk: a frozen one keeps its connections and says
 * nothing. Asked only while somebody has a reason to doubt it. A write that finds nothing to change waits for the same
 * as any other, and leaves nothing behind.
 */
export function createWriteProbe(
  { db }: { db: Db },
  { missingAfterMs: unresponsiveAfterMs = UNRESPONSIVE_AFTER_MS }: { missingAfterMs?: number } = {},
) {
  const keys = db.collection<{ _id: string }>('idempotency_keys');
  let askedAt: number | null = null;
  let failed = false;

  async function ask(): Promise<void> {
    try {
      await keys.updateOne({ _id: 'write-probe' }, { $unset: { nothing: '' } });
      failed = false;
    } catch {
      failed = true;
    }
    askedAt = null;
  }

  return {
    /** Asks, unless that is under way. */
    probe(): void {
      if (askedAt !== null) return;
      askedAt = performance.now();
      void ask();
    },
    /** Whether it had no answer in good time, or a bad one. */
    isUnresponsive: (): boolean =>
      failed || (askedAt !== null && performance.now() - askedAt >= unresponsiveAfterMs),
  };
}
