import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { Config } from '../../shared/config.js';
import type { Log } from '../../shared/log.js';
import type { Sealing } from '../../platform/sealing/sealing.js';

type SecretUse = { _id: string; last_used_at: Date };

const EVERY_MS = 60_000;
const PURPOSE = 'secret of a provider';

const usesIn = (db: Db) => db.collection<SecretUse>('environment');
const useId = (mark: string) => `provider_secret/${mark}`;

/**
 * Notes the last time at which each secret of a provider verified a message, at most once a minute, so that an operator sees
 * when the provider signs with the new one only. A secret is named by a keyed hash.
 */
export function createSecretUses({ db, sealing, log }: { db: Db; sealing: Sealing; log: Log }) {
  const recent = new LRUCache<string, true>({ max: 100, ttl: EVERY_MS });
  const writing = new Set<Promise<void>>();

  async function write(secret: string): Promise<void> {
    const _id = useId(sealing.blindIndex(secret, PURPOSE));
    const now = { $currentDate: { last_used_at: true } } as const;
    await usesIn(db)
      .updateOne({ _id }, now, { upsert: true })
      .catch((error: unknown) => log.warn({ err: error }, 'could not record the use of a secret'));
  }

  return {
    touch(secret: string): void {
      if (recent.has(secret)) return;
      recent.set(secret, true);
      const done = write(secret).finally(() => writing.delete(done));
      writing.add(done);
    },
    /** Resolves when no write is in progress. */
    idle: async (): Promise<void> => void (await Promise.all(writing)),
  };
}

/** A secret of a provider, by its setting and its place in the list. */
export type ProviderSecretUse = {
  setting: string;
  /** 1 for the first one, which sends. */
  position: number;
  lastVerifiedAt: Date | null;
};

/** The listed secrets of all providers, with the last message that each has verified. */
export async function listSecretUses(
  db: Db,
  sealing: Sealing,
  { sandboxBank, paystack }: Pick<Config, 'sandboxBank' | 'paystack'>,
): Promise<ProviderSecretUse[]> {
  const settings: [string, readonly string[]][] = [
    ['SANDBOX_BANK_SECRET', sandboxBank ? [sandboxBank.secret, ...sandboxBank.earlierSecrets] : []],
    ['PAYSTACK_SECRET_KEY', paystack?.keys ?? []],
  ];
  const uses: ProviderSecretUse[] = [];
  for (const [setting, secrets] of settings) {
    for (const [index, secret] of secrets.entries()) {
      const ids = sealing.blindIndexes(secret, PURPOSE).map(useId);
      const [latest] = await usesIn(db)
        .find({ _id: { $in: ids } })
        .sort({ last_used_at: -1 })
        .limit(1)
        .toArray();
      uses.push({ setting, position: index + 1, lastVerifiedAt: latest?.last_used_at ?? null });
    }
  }
  return uses;
}
