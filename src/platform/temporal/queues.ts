import { webhooksQueue } from '../../core/webhooks/workflow-contract.js';

export type Queue<Provider> = { name: string } & (
  | { serves: 'workflows' | 'webhooks' | 'provider_event_replays' }
  | { serves: 'calls' | 'bulk_transfers'; provider: Provider }
);

/** Where calls go out to: how many a second over all workers, and whether orders of batches are among them. */
export type RateLimit = { name: string; callsPerSecond: number; bulkTransfersOf: string | null };

/**
 * Every queue that a worker process serves. Workers are made from this list, and `bursar doctor` looks for them by it.
 * A queue per provider keeps its rate limit, and a slow provider holds back no other. Parts of batches have a queue
 * beside it, and webhooks that failed one of their own; so have replays.
 */
export function queuesOf<Provider extends Pick<RateLimit, 'name' | 'bulkTransfersOf'>>(
  taskQueue: string,
  providers: readonly Provider[],
): Queue<Provider>[] {
  return [
    { name: taskQueue, serves: 'workflows' },
    ...providers.flatMap((provider): Queue<Provider>[] => [
      { name: providerQueue(taskQueue, provider.name), serves: 'calls', provider },
      ...(provider.bulkTransfersOf !== null
        ? [
            {
              name: bulkTransfersQueue(taskQueue, provider.bulkTransfersOf),
              serves: 'bulk_transfers' as const,
              provider,
            },
          ]
        : []),
    ]),
    { name: webhooksQueue(taskQueue), serves: 'webhooks' },
    { name: providerEventReplaysQueue(taskQueue), serves: 'provider_event_replays' },
  ];
}

/** Whether workflows run on it. Activities do on all of them. */
export const hasWorkflows = ({ serves }: Queue<unknown>): boolean =>
  serves === 'workflows' || serves === 'webhooks';

/** The rate limit of a bank's transfers. */
export const transferRateLimitKey = (provider: string) => `${provider}-transfers`;

/** What calls to a card issuer are counted as: one that is a bank too has a rate of its own for each. */
export const issuerRateLimitKey = (issuer: string) => `${issuer}-cards`;

/** The same of who takes payments. */
export const paymentRateLimitKey = (provider: string) => `${provider}-payments`;

/** Each provider has its own queue and rate limit, so that a slow one holds back no other. */
export const providerQueue = (taskQueue: string, rateLimitKey: string) =>
  `${taskQueue}-${rateLimitKey}`;

/** Replays are paced by a queue of their own: a thousand of them take nothing from what comes in. */
export const providerEventReplaysQueue = (taskQueue: string) =>
  `${taskQueue}-provider-event-replays`;

/** Parts of batches have a queue of their own, so that a thousand records at once hold back no single one. */
export const bulkTransfersQueue = (taskQueue: string, provider: string) =>
  `${taskQueue}-${provider}-bulk-transfers`;
