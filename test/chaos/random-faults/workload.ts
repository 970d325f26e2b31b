import type { Random } from './random.js';
import type { ChaosCluster } from './cluster.js';
import type { ReceivedWebhooks } from './received-webhooks.js';

/** A capability in the random-fault run: what its clients do, what its readers look at, and what has to hold afterwards. */
export type Workload = {
  name: string;
  /** How often it is chosen, beside the weights of the others. */
  weight: number;
  /** What has to be there before the first blow. */
  prepare?(): Promise<void>;
  /** One request, chosen at random, repeated with its key until it is answered for good. */
  act(): Promise<void>;
  /** One read, by a reader who remembers that states only move forward. */
  look?(): Promise<void>;
  /** All its requests once more, with their keys, when everything is quiet. How many there were. */
  repeat?(): Promise<number>;
  /** What is wrong with this capability once everything is quiet and its tenants were told so much, in plain words. */
  check(received: ReceivedWebhooks): Promise<string[]>;
  figures(): Record<string, number>;
  /** What was wrong while it went on. */
  problems: string[];
};

export type WorkloadFactory = (cluster: ChaosCluster, random: Random) => Workload;
