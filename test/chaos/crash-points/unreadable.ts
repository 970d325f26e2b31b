import { createHash } from 'node:crypto';
import type { ProviderEvent } from '../../../src/core/provider-events/event.js';
import { callbackSender } from '../../support/callbacks.js';
import { eventually } from '../../support/eventually.js';
import { DISPATCH_POINTS, namesOf, type Case } from './capability.js';
import type { Cluster, Death } from './cluster.js';
import { allDelivered } from './commands.js';

/** The bank reverses a transfer to an account that ends in these digits, and sends no callback. */
const REVERSED_SILENTLY = '023';
/** A name of the event that no adapter knows, and the one that it has. */
const [UNKNOWN_NAME, KNOWN_NAME] = ['transfer.reversed_v2', 'transfer.reversed'];

const eventsOf = ({ service }: Cluster) =>
  service.deps.database.db.collection<ProviderEvent>('provider_events');

/** A completed transfer that the bank has reversed, and the message about that. */
async function reversedSilently(cluster: Cluster) {
  const { tenant, service } = cluster;
  const id = await tenant.send(REVERSED_SILENTLY);
  const { session_id } = await tenant.waitFor(id, 'completed');
  await eventually('the bank has reversed it', async () =>
    (await cluster.effects(id)).includes('reversed') ? true : undefined,
  );
  await allDelivered(cluster, id, ['transfer.completed', 'transfer.processing']);
  return { id, body: callbackSender(service).about(id, UNKNOWN_NAME, { session_id }) };
}

/** The message is stored once, and its workflow has called an operator. */
async function isWaiting(cluster: Cluster, body: string): Promise<ProviderEvent> {
  const { id } = JSON.parse(body) as { id: string };
  const dedupe_key = createHash('sha256').update(`sandbox-bank/${id}`).digest('hex');
  const found = await eventually('its workflow waits for an operator', async () => {
    const all = await eventsOf(cluster).find({ dedupe_key }).toArray();
    return all.length > 0 && all.every((each) => each.next_check_at === null) ? all : undefined;
  });
  expect(found).toMatchObject([{ status: 'failed', attention: {}, reading: 'unreadable' }]);
  return found[0] as ProviderEvent;
}

/** The adapter learns the name of the event, and an operator replays the message, which ends. */
async function replayed(
  cluster: Cluster,
  event: ProviderEvent,
  deaths: readonly Death[] = [],
): Promise<void> {
  const { providerEvents } = cluster.service.deps;
  const learned = { $set: { 'message.event': KNOWN_NAME } } as object;
  await eventsOf(cluster).updateOne({ _id: event._id }, learned);
  const { resource } = await cluster.dies(deaths, async () =>
    providerEvents.replay(await providerEvents.withOwner(event, true), null),
  );
  await eventually('the replay is completed', async () =>
    (await providerEvents.replays.find(String(resource)))?.status === 'completed'
      ? true
      : undefined,
  );
  expect(await eventsOf(cluster).findOne({ _id: event._id })).toMatchObject({
    status: 'processed',
    attention: null,
  });
}

/** The reversal is booked once. */
async function isReversed(cluster: Cluster, id: string, available: number): Promise<void> {
  const { tenant } = cluster;
  expect(await tenant.get(id)).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
  expect((await tenant.balance()).available).toBe(available);
  expect(await cluster.effects(id)).toEqual(['paid', 'reversed']);
  await cluster.isNotified(id, ['transfer.completed', 'transfer.processing', 'transfer.reversed']);
  await cluster.isQuiet();
}

const arriving = (death: Death): Case => ({
  name: `a message in an unknown format: ${namesOf([death])}`,
  async run(cluster) {
    const { available } = await cluster.tenant.balance();
    const { id, body } = await reversedSilently(cluster);
    const callbacks = callbackSender(cluster.service);
    // The bank sends a message again that was not answered.
    await cluster.dies([death], () => callbacks.post(body).catch(() => null));
    expect(await callbacks.post(body)).toMatchObject({ status: 200 });
    await replayed(cluster, await isWaiting(cluster, body));
    await isReversed(cluster, id, available);
  },
});

const learning = (point: string): Case => ({
  name: `a message in an unknown format, replayed once it is known: the worker dies at ${point}`,
  async run(cluster) {
    const { available } = await cluster.tenant.balance();
    const { id, body } = await reversedSilently(cluster);
    expect(await callbackSender(cluster.service).post(body)).toMatchObject({ status: 200 });
    await replayed(cluster, await isWaiting(cluster, body), [{ who: 'worker', point }]);
    await isReversed(cluster, id, available);
  },
});

export const unreadableMessages: Case[] = [
  arriving({ who: 'api', point: 'provider_event.stored' }),
  ...DISPATCH_POINTS.map((point) => arriving({ who: 'worker', point })),
  ...[
    'commit.before',
    'commit.after',
    'provider_event.applied',
    'webhook.before',
    'webhook.after',
  ].map(learning),
];
