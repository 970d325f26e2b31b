import type { Client } from '@temporalio/client';
import type { Config } from '../../shared/config.js';
import type { Database } from '../../platform/database/client.js';
import type { Log } from '../../shared/log.js';
import { createRedelivery } from './redeliver.js';
import { createEndFailure, createNoteAnswer } from './answers.js';
import { createAttempts, createHealth, type ObserveAttempt } from './attempts.js';
import { createDeliverer, type RetryAt } from './deliverer.js';
import { createDeliveries } from './deliveries.js';
import { createEndpointChanges } from './endpoint-changes.js';
import { createEndpointState } from './endpoint-state.js';
import { createEndpoints } from './endpoints.js';
import { createOutbox } from './outbox.js';
import { createRetention } from './retention.js';
import { createRounds } from './rounds.js';
import { createSecretBox } from './secrets.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { createSender, problemWithAddress, type Resolve } from './sender.js';
import { createDeliveryStarter } from './workflow-starter.js';
import { createRecovery } from './recovery.js';

/** Time for deliveries in flight when a process stops. An interrupted one is made again later. */
const STOP_WITHIN_MS = 2_000;

/** The parts of outgoing webhooks. */
export type Webhooks = ReturnType<typeof createWebhooks>;

/** Creates the parts of outgoing webhooks: endpoints, events, deliveries and the delivery of events. */
export function createWebhooks(deps: {
  database: Database;
  client: Client;
  config: Pick<Config, 'environment' | 'keyPeppers' | 'temporal' | 'webhooks' | 'instructions'>;
  sealing: Sealing;
  log: Log;
  /** Told of each attempt, for the metrics. */
  observe?: ObserveAttempt;
  /** Looks names up; for tests that have names of their own. */
  resolve?: Resolve;
  /** The time of the rounds of a workflow; for tests whose Temporal skips time. */
  clock?: () => Date;
}) {
  const { database, client, config, log, observe, resolve, clock = () => new Date() } = deps;
  const { allowPrivate, timeoutMs, scheduleMs, parkAfterMs, retentionMs } = config.webhooks;
  const { stallTimeoutMs } = config.instructions;
  const rules = {
    allowPrivate,
    requireHttps: config.environment === 'live',
    timeoutMs,
    ...(resolve && { resolve }),
  };
  const secretBox = createSecretBox(deps.sealing, config.keyPeppers);
  const endpoints = createEndpoints({ db: database.db, secretBox });
  const deliveries = createDeliveries({ db: database.db });
  const sender = createSender(rules);
  const health = createHealth();
  const attempt = createAttempts({ endpoints, sender, health, log, observe });
  const state = createEndpointState({ db: database.db });
  const { taskQueue } = config.temporal;
  const starter = createDeliveryStarter({ client, taskQueue, state, stallTimeoutMs, log });
  const endFailure = createEndFailure({ state, deliveries });
  const retryAt: RetryAt = ({ attempt_count: before }, failedAt) => {
    const afterMs = scheduleMs[before];
    return afterMs === undefined ? null : new Date(failedAt.getTime() + afterMs);
  };
  // The wait in the queue, the attempt and the write of its result: until then the delivery belongs to this process.
  const leaseEnd = () => new Date(Date.now() + 2 * timeoutMs + stallTimeoutMs);
  const deliverer = createDeliverer({
    deliveries,
    attempt,
    health,
    noteAnswer: createNoteAnswer({ endpoints, endFailure, starter }),
    retryAt,
    leaseEnd,
    starter,
    maxWaitMs: timeoutMs,
    log,
  });
  const pace = { scheduleMs, parkAfterMs, stallTimeoutMs, log, clock };

  return {
    endpoints,
    deliveries,
    outbox: createOutbox({ endpoints, deliveries, deliverer, health, starter, leaseEnd }),
    recover: createRecovery({ deliveries, state, deliverer, starter, leaseEnd, log }),
    removeOld: createRetention({ db: database.db, retentionMs }),
    deliverWaiting: createRounds({ deliveries, state, attempt, endFailure, retryAt, ...pace }),
    ...createRedelivery({ endpoints, deliveries }),
    ...createEndpointChanges({ endpoints, deliveries, state, starter }),

    /** The problem of a new endpoint's address, or null. */
    problemWith: (url: string) => problemWithAddress(url, rules),

    async close(): Promise<void> {
      await deliverer.stop(STOP_WITHIN_MS);
      await starter.stop();
      await sender.close();
    },
  };
}
