import type { Document } from 'mongodb';
import type { Fault } from '../../support/bank.js';
import type { ChaosCluster } from './cluster.js';
import type { Random } from './random.js';

/** A fault of one part of the cluster, which is set and then ended. */
export type Disturbance = {
  name: string;
  on: () => Promise<unknown>;
  off: () => Promise<unknown>;
};

/** Longer than the time limit of a call to the bank. */
const SLOW_BODY_MS = 3_000;

/**
 * Lost, late and wrong answers, in addition to those that test accounts cause. Left out is `lost_event`: some facts are told by one
 * message alone, such as the decision of a dispute of a card payment or the return of a refund that was made.
 */
const FAULTS: Fault[] = [
  { call: 'any', kind: 'drop_before', probability: 0.05 },
  { call: 'any', kind: 'drop_after', probability: 0.05 },
  { call: 'any', kind: 'slow', probability: 0.05, ms: 800 },
  { call: 'any', kind: 'error_500', probability: 0.03 },
  { call: 'any', kind: 'throttle', probability: 0.03 },
  { call: 'any', kind: 'conflict', probability: 0.03 },
  { call: 'any', kind: 'unknown_word', probability: 0.03 },
  { call: 'any', kind: 'half_open', probability: 0.03 },
  { call: 'any', kind: 'slow_body', probability: 0.03, ms: SLOW_BODY_MS },
  { call: 'any', kind: 'reset', probability: 0.03 },
  { call: 'callback', kind: 'drop_before', probability: 0.1 },
  { call: 'callback', kind: 'duplicate_event', probability: 0.2 },
  { call: 'authorization', kind: 'duplicate_event', probability: 0.2 },
];

/** Longer than the time after which "not found" is conclusive, with the pause between two polls. */
const LAG_MS = [8_000, 14_000] as const;

/** Kinds of records whose outcomes the store refuses for a time. Those of card operations are committed by requests too. */
const REFUSED = ['transfers', 'charges', 'refunds', 'bill_payments'] as const;

/** The store refuses the outcomes of one kind. */
export const refusalsOf = (cluster: ChaosCluster): Disturbance[] =>
  REFUSED.map((name) => refusedOutcomes(cluster, name));

/** All other disturbances. */
export const disturbancesOf = (cluster: ChaosCluster, random: Random): Disturbance[] => [
  {
    name: 'faults at the bank',
    on: () => cluster.service.bank.faults(FAULTS),
    off: () => cluster.service.bank.faults([]),
  },
  {
    name: 'receiver refuses',
    on: async () => cluster.receiver.behave(503),
    off: async () => cluster.receiver.behave(204),
  },
  lostCopy(cluster, random),
];

/** The bank fails over to a copy that lacks orders which it has acknowledged and not decided. */
function lostCopy({ service }: ChaosCluster, random: Random): Disturbance {
  const { db } = service.deps.database;
  const open = { status: 'processing', acknowledged_at: { $type: 'date' } } as const;
  const idsIn = async (name: string) =>
    (await db.collection<{ _id: string; attempt?: number }>(name).find(open).toArray()).map(
      ({ _id, attempt }) => (attempt === undefined ? _id : `${_id}-${attempt}`),
    );
  return {
    name: 'the bank fails over to a lagging copy',
    async on() {
      const names = ['transfers', 'charges', 'refunds', 'card_operations'];
      const references = (await Promise.all(names.map(idsIn))).flat();
      await service.bank.failOver(references, Math.round(random.between(...LAG_MS)));
    },
    // It ends by itself, and may outlast this disturbance.
    off: () => Promise.resolve(),
  };
}

/** True while the store refuses outcomes of this kind of record. */
export async function storeRefuses({ service }: ChaosCluster, name: string): Promise<boolean> {
  const [found] = await service.deps.database.db.listCollections({ name }).toArray();
  const { validator = {} } = (found as { options?: { validator?: Document } }).options ?? {};
  return '$and' in validator;
}

/** The store refuses every write that completes or fails an open record of one kind. */
function refusedOutcomes({ service }: ChaosCluster, name: string): Disturbance {
  const { db } = service.deps.database;
  let before: Document | null = null;
  /** Records that have ended before stay valid: a refund changes its completed charge. */
  async function refuse(otherwise: Document): Promise<void> {
    const accepted = [
      { status: { $in: ['pending', 'processing'] } },
      { completed_at: { $lt: new Date() } },
    ];
    await db.command({ collMod: name, validator: { $and: [otherwise, { $or: accepted }] } });
  }
  return {
    name: `the store refuses outcomes of ${name}`,
    async on() {
      const [found] = await db.listCollections({ name }).toArray();
      before ??= ((found as { options?: Document })?.options?.['validator'] as Document) ?? {};
      await refuse(before);
      // Those that ended while the command was on its way stay valid too.
      await refuse(before);
    },
    async off() {
      if (before) await db.command({ collMod: name, validator: before });
    },
  };
}
