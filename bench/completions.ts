import type { Db } from 'mongodb';
import type { Transfer } from '../src/capabilities/transfers/record.js';

const WITHIN_MS = 60_000;

/**
 * Watches the database's change stream for completed transfers, so the measured processes do no extra work. `of`
 * rejects if a transfer is not completed in time.
 */
export function watchCompletions(db: Db, withinMs = WITHIN_MS) {
  const waiting = new Map<string, () => void>();
  const early = new Set<string>();
  const done = { $in: ['completed', 'failed'] };
  const stream = db.collection<Transfer>('transfers').watch<Transfer>([
    {
      $match: {
        $or: [{ 'fullDocument.status': done }, { 'updateDescription.updatedFields.status': done }],
      },
    },
    { $project: { documentKey: 1 } },
  ]);
  stream.on('change', (change) => {
    if (!('documentKey' in change)) return;
    const id = change.documentKey._id;
    const resolve = waiting.get(id);
    if (resolve) resolve();
    else early.add(id);
  });
  let failed: Error | null = null;
  stream.on('error', (error) => (failed = error));

  return {
    async of(id: string): Promise<void> {
      if (failed) throw failed;
      if (early.delete(id)) return;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${id} was not completed`)), withinMs);
        waiting.set(id, () => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve();
        });
      });
    },
    close: () => stream.close(),
  };
}
