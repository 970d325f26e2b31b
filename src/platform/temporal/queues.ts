/** A task queue and the kind of work on it. */
export type Queue<Provider> = { name: string } & (
  | { serves: 'workflows' | 'webhooks' | 'provider_event_replays' }
  | { serves: 'calls' | 'bulk_transfers'; provider: Provider }
);

/** Calls per second over all workers. Rates with one `bucket` are one rate, of several ports; without it, a rate is its own. */
type Rate = { callsPerSecond: number; bucket?: string | undefined };

/**
 * The rate limit of a provider's port, and the provider whose bulk transfers share it. `submissions`: the rate of submissions, if
 * it is another one than that of all other calls.
 */
export type RateLimit = Rate & {
  name: string;
  bulkTransfersOf: string | null;
  submissions?: Rate | undefined;
};

/**
 * Every task queue that workers serve: workers are created from this list, and `bursar doctor` checks them by it. Each
 * provider has a queue, which holds its rate limit, so that a slow provider delays no other. Bulk transfers, webhook
 * retries and replays have queues of their own, so that they do not delay single requests.
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

/** Tells whether workflows run on the queue. Activities run on all queues. */
export const hasWorkflows = ({ serves }: Queue<unknown>): boolean =>
  serves === 'workflows' || serves === 'webhooks';

/** The rate-limit key of calls for transfers. */
export const transferRateLimitKey = (provider: string) => `${provider}-transfers`;

/** The rate-limit key of calls to a card issuer. An issuer that is also a bank has a rate for each. */
export const issuerRateLimitKey = (issuer: string) => `${issuer}-cards`;

/** The rate-limit key of calls to a payment provider. */
export const paymentRateLimitKey = (provider: string) => `${provider}-payments`;

/** The rate-limit key of calls for virtual accounts and deposits. */
export const accountRateLimitKey = (provider: string) => `${provider}-accounts`;
/** The rate-limit key of calls to an identity provider. */
export const identityRateLimitKey = (provider: string) => `${provider}-identity`;

/** The rate-limit key of calls to a bill provider. */
export const billRateLimitKey = (provider: string) => `${provider}-bills`;

/** The rate-limit key of the calls of a port that are no submissions. It names the same limit if the port has one for all calls. */
export const questionsOf = (rateLimitKey: string) => `${rateLimitKey}-questions`;

/**
 * The queue of a provider's calls. Each provider has its own queue and rate limit, so that a slow one delays no other.
 */
export const providerQueue = (taskQueue: string, rateLimitKey: string) =>
  `${taskQueue}-${rateLimitKey}`;

/** The queue of replays. A rate limit of its own keeps a thousand replays from delaying new events. */
export const providerEventReplaysQueue = (taskQueue: string) =>
  `${taskQueue}-provider-event-replays`;

/** The queue of a provider's bulk transfers: a thousand transfers at once delay no single one. */
export const bulkTransfersQueue = (taskQueue: string, provider: string) =>
  `${taskQueue}-${provider}-bulk-transfers`;

/** The queue of webhook retries. A queue of its own keeps a receiver that does not answer from delaying transfers. */
export const webhooksQueue = (taskQueue: string) => `${taskQueue}-webhooks`;
