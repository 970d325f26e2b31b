import type { Collection, Db } from 'mongodb';
import { isDuplicate } from '../../platform/database/duplicate.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import type { Log } from '../../shared/log.js';
import type { ProviderFault, ProviderFaults } from './faults.js';
import type { BalanceAnswer, TransferProvider } from './transfer-provider.js';

/** The last health check of a provider. */
export type ProviderHealth = {
  /** The provider's name. */
  _id: string;
  /** No process checks it before. */
  next_check_at: Date;
  checked_at: Date | null;
  /** The provider has answered, and has accepted our credentials. */
  up: boolean;
  /** The reason why it is not up; null if it is. */
  reason: string | null;
  /** Our balance at the provider at the last good check. */
  float_minor: bigint | null;
  currency: string | null;
};

/** Health checks of providers. */
export const providerHealthCollection: CollectionSpec = {
  name: 'provider_health',
  validator: {
    bsonType: 'object',
    required: ['next_check_at'],
    properties: {
      next_check_at: { bsonType: 'date' },
      checked_at: { bsonType: ['date', 'null'] },
      up: { bsonType: 'bool' },
      reason: { bsonType: ['string', 'null'] },
      float_minor: { bsonType: ['long', 'null'] },
      currency: { bsonType: ['string', 'null'] },
    },
  },
  indexes: [],
};

/** Time between two checks while a provider has a fault: transfers wait for its end. */
const FAULTY_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 10_000;

type Deps = {
  db: Db;
  providers: { all: readonly TransferProvider[] };
  faults: ProviderFaults;
  everyMs: number;
  log: Log;
};

/** Checks providers. */
export type ProviderHealthChecks = ReturnType<typeof createProviderHealthChecks>;

/**
 * Checks each provider by the query of our balance, which moves no money: one process at a time, every `everyMs`, and more
 * often while it has a fault. A good answer ends the faults that it disproves.
 */
export function createProviderHealthChecks(deps: Deps) {
  const { db, providers, log } = deps;
  const collection: Collection<ProviderHealth> = db.collection(providerHealthCollection.name);

  /** Claims the check of a provider whose last one is `everyMs` old. */
  async function claim(name: string, everyMs: number): Promise<boolean> {
    const now = Date.now();
    const next_check_at = new Date(now + deps.everyMs);
    const due = new Date(now + deps.everyMs - everyMs);
    const found = await collection.findOne({ _id: name });
    if (found && found.next_check_at > due) return false;
    try {
      const { modifiedCount, upsertedCount } = await collection.updateOne(
        { _id: name, next_check_at: { $lte: due } },
        { $set: { next_check_at } },
        { upsert: !found },
      );
      return modifiedCount + upsertedCount > 0;
    } catch (error) {
      // Another process has claimed it first.
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async function check(provider: TransferProvider): Promise<void> {
    if (!provider.balance) return;
    const fault = await deps.faults.stopping(provider.name);
    const everyMs = fault ? Math.min(FAULTY_EVERY_MS, deps.everyMs) : deps.everyMs;
    if (!(await claim(provider.name, everyMs))) return;
    const answer = await provider.balance(AbortSignal.timeout(ANSWER_WITHIN_MS));
    await collection.updateOne({ _id: provider.name }, { $set: seen(answer, new Date()) });
    if (answer.fault) await deps.faults.report(provider.name, answer.fault);
    else await endDisproved(deps.faults, provider, answer);
  }

  return {
    /** Checks every provider that is due. */
    async checkDue(): Promise<void> {
      for (const provider of providers.all) {
        await check(provider).catch((error: unknown) =>
          log.warn({ err: error, provider: provider.name }, 'health check failed'),
        );
      }
    },

    /** The last check of each provider. */
    list: (): Promise<ProviderHealth[]> => collection.find().sort({ _id: 1 }).toArray(),
  };
}

function seen(answer: BalanceAnswer, now: Date): Partial<ProviderHealth> {
  if (answer.kind !== 'balance') {
    return { checked_at: now, up: false, reason: answer.fault ?? answer.reason };
  }
  const { availableMinor: float_minor, currency } = answer;
  return { checked_at: now, up: true, reason: null, float_minor, currency };
}

/**
 * True if our balance covers the smallest amount that it did not, and the most that the provider may take for it. Without the fee
 * the next try would find it too small again.
 */
export const isFloatBack = (
  { needed_minor: needed }: Pick<ProviderFault, 'needed_minor'>,
  { feeAtMostMinor = 0n }: Pick<TransferProvider['traits'], 'feeAtMostMinor'>,
  availableMinor: bigint,
): boolean => availableMinor >= (needed === null ? 0n : needed + feeAtMostMinor);

/** Ends the faults that a good answer disproves. */
async function endDisproved(
  faults: ProviderFaults,
  { name, traits }: TransferProvider,
  answer: BalanceAnswer,
): Promise<void> {
  if (answer.kind !== 'balance') return;
  const { endedByOperator = [] } = traits;
  for (const fault of await faults.list()) {
    if (fault.provider !== name || fault.kind !== 'fault') continue;
    if (endedByOperator.some((each) => each === fault.name)) continue;
    const isBack = isFloatBack(fault, traits, answer.availableMinor);
    if (fault.name !== 'float' || isBack) await faults.end(name, fault.name);
  }
}
