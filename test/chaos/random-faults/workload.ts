import type { Random } from './random.js';
import type { ChaosCluster } from './cluster.js';
import type { ReceivedWebhooks } from './received-webhooks.js';

/** A capability in the random-fault run: requests of its clients, reads of its readers, and checks at the end. */
export type Workload = {
  name: string;
  /** Weight with which clients choose this workload. */
  weight: number;
  /** Creates the records that must exist before the first fault. */
  prepare?(): Promise<void>;
  /** One request, chosen at random, repeated with its key until the answer is final. */
  act(): Promise<void>;
  /** One read. The reader checks that states only move forward. */
  look?(): Promise<void>;
  /** Ends what clients have begun and could not end, because its answer was lost. No client is active then. */
  settle?(): Promise<void>;
  /** Repeats all requests with their keys when no work is open; returns their number. */
  repeat?(): Promise<number>;
  /** Violations of this capability when no work is open, given the webhooks that its tenants received. */
  check(received: ReceivedWebhooks): Promise<string[]>;
  figures(): Record<string, number>;
  /** Violations found during the run. */
  problems: string[];
};

export type WorkloadFactory = (cluster: ChaosCluster, random: Random) => Workload;
