import type {
  ProviderEventReplay,
  ProviderEvent,
} from '../../../../src/core/provider-events/event.js';
import type { Delivery } from '../../../../src/core/webhooks/event.js';
import type { CardView } from '../../../support/cards.js';
import type { CardEventView } from '../../../support/card-events.js';
import type { Workload } from '../workload.js';
import { createRequests, type SentRequest } from '../requests.js';
import { isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';

const ALLOWED_TRANSITIONS = { pending: ['completed', 'failed'], completed: [], failed: [] };

/** Replays events of issuers and delivers webhooks again. Neither may have a second effect. */
export function createReplays(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<{ note?: string }>(cluster, random, problems);
  const { database, webhooks } = cluster.service.deps;
  let named = 0;
  let redelivered = 0;

  /** An event of one of the tenant's cards, from the tenant's own list. */
  async function anyEvent(of: ChaosTenant): Promise<string | null> {
    const cards = await get<CardView[]>(of, '/cards?limit=20');
    if (!cards || cards.length === 0) return null;
    const { id } = random.pick(cards);
    const events = await get<CardEventView[]>(of, `/webhooks/cards/events/${id}?limit=20`);
    return events && events.length > 0 ? random.pick(events).id : null;
  }

  async function replay(): Promise<void> {
    const of = cluster.anyTenant(random);
    const event = await anyEvent(of);
    if (event === null) return;
    const path = `/webhooks/cards/events/${event}/replay`;
    await send({ of, path, body: {}, key: `chaos replay ${(named += 1)}` });
  }

  /** Delivers a webhook again as the command line does, because there is no route for it. */
  async function redeliver(): Promise<void> {
    const [delivery] = await database.db
      .collection<Delivery>('webhook_deliveries')
      .aggregate<Delivery>([{ $match: { status: 'delivered' } }, { $sample: { size: 1 } }])
      .toArray();
    if (delivery && (await webhooks.redeliver(delivery._id))) redelivered += 1;
  }

  const accepted = () => sent.filter(({ answer }) => answer?.status === 201);

  return {
    name: 'replays',
    weight: 1.5,
    act: async () => (random.chance(0.6) ? replay() : redeliver().catch(() => undefined)),
    async look() {
      if (accepted().length === 0) return;
      const { of, path, answer } = random.pick(accepted());
      const id = String(answer?.id);
      await look({ of, path: `${path}s/${id}`, id });
    },
    repeat,
    check: () => check(cluster, sent),
    figures: () => ({
      requests: sent.length,
      replays: accepted().length,
      redelivered,
      reads: reads(),
    }),
    problems,
  };
}

/** Each accepted replay exists once, no other replay exists, and no replay of a processed event has failed. */
async function check(
  cluster: ChaosCluster,
  sent: readonly SentRequest<{ note?: string }>[],
): Promise<string[]> {
  const { db } = cluster.service.deps.database;
  const events = await db.collection<ProviderEvent>('provider_events').find().toArray();
  // Operators replay unreadable messages, see messages.ts.
  const unreadable = events.filter(({ reading }) => reading === 'unreadable');
  const replays = await db
    .collection<ProviderEventReplay>('provider_event_replays')
    .find({ event_id: { $nin: unreadable.map(({ _id }) => _id) } })
    .toArray();
  const byId = new Map(replays.map((one) => [one._id, one]));
  const statusOf = new Map(events.map(({ _id, status }) => [_id, status]));
  const accepted = sent.filter(({ answer }) => answer?.status === 201);
  const pathOf = new Map(accepted.map(({ path, answer }) => [String(answer?.id), path]));
  const lost = [...pathOf.keys()].filter((id) => !byId.has(id));
  const ids = accepted.map(({ answer }) => String(answer?.id));
  const shared = ids.filter((id, i) => ids.indexOf(id) !== i);
  const failed = replays.filter(
    ({ status, event_id: event }) => status === 'failed' && statusOf.get(event) === 'processed',
  );
  return [
    ...sent
      .filter(({ answer }) => answer?.status !== 201)
      .map(({ path, answer }) => `${path} was refused: ${answer?.text}`),
    ...lost.map((id) => `${id} was accepted, and is not there`),
    ...shared.map((id) => `${id} was answered to two requests`),
    ...replays
      .filter(({ _id }) => !pathOf.has(_id))
      .map(({ _id }) => `${_id} is there, and was never accepted`),
    ...failed.map(({ _id, failure }) => `${_id} failed: ${failure?.message}`),
    ...(await isolated(cluster, replays, {
      one: (id) => `${pathOf.get(id)}s/${id}`,
      posts: (id) => [[String(pathOf.get(id)), {}]],
    })),
  ];
}
