import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import { eventually } from '../../support/eventually.js';
import type { Case } from './capability.js';
import type { Death, Cluster } from './cluster.js';

const AMOUNT_MINOR = 5_000;
const SETTINGS = {
  enabled: true,
  threshold_minor: AMOUNT_MINOR,
  amount_minor: AMOUNT_MINOR,
  daily_cap_minor: 10 * AMOUNT_MINOR,
};

const put = ({ cards }: Cluster, card: string) =>
  cards.call('PUT', `/cards/${card}/auto-reload`, SETTINGS);

/** Checks that a card has had this many reloads, each funded once, and that its balance is their sum. */
async function isReloaded(cluster: Cluster, card: string, times: number): Promise<void> {
  const { service, cards } = cluster;
  const found = await service.deps.database.db
    .collection<CardOperation>('card_operations')
    .find({ card_id: card, type: 'auto_reload' })
    .toArray();
  expect(found).toHaveLength(times);
  for (const { _id: id } of found) {
    await cards.waitForOperation(card, id, 'completed');
    expect(await cluster.effects(id)).toEqual(['funded']);
    await cluster.isNotified(id, ['card.operation.completed']);
  }
  await cluster.isQuiet();
  expect((await cards.balance(card)).available_minor).toBe(times * AMOUNT_MINOR);
}

/** The settings find a card below its threshold. They are sent again after the crash, as a client would. */
const bySettings = (deaths: readonly Death[]): Case => ({
  name: `a reload, by its settings: ${deaths.map(({ who, point }) => `the ${who} dies at ${point}`).join(', ')}`,
  async run(cluster) {
    const { id: card } = await cluster.cards.issue();
    await cluster.isQuiet();
    await cluster.dies(deaths, () => put(cluster, card).catch(() => null));
    expect((await put(cluster, card)).status).toBe(200);
    await isReloaded(cluster, card, 1);
  },
});

/** A payment that leaves a card below its threshold reloads it in the commit that approves it. */
const bySpending = (point: string): Case => ({
  name: `a reload, by a payment: the api dies at ${point}`,
  async run(cluster) {
    const { issuer } = cluster;
    const { id: card } = await cluster.cards.issue();
    await put(cluster, card);
    await cluster.isQuiet();
    const spend = () => issuer.pay(card, { amount_minor: AMOUNT_MINOR });
    const { token, approved } = await cluster.dies([{ who: 'api', point }], spend);
    if (approved) await issuer.end(token, 'reversed');
    // An issuer without an answer declines: the card has the money back, and the reload that the payment caused.
    await eventually('nothing of it is held', async () => {
      const { db } = cluster.service.deps.database;
      const held = { _id: card as never, open_holds: { $gt: 0 } };
      return (await db.collection('cards').countDocuments(held)) === 0 ? true : undefined;
    });
    await cluster.isQuiet();
    await isReloaded(cluster, card, point === 'commit.before' ? 1 : 2);
  },
});

export const reloads: Case[] = [
  ...['commit.before', 'commit.after', 'start.before', 'start.after'].map((point) =>
    bySettings([{ who: 'api', point }]),
  ),
  bySettings([
    { who: 'api', point: 'start.before' },
    { who: 'worker', point: 'dispatch.started' },
  ]),
  ...['commit.before', 'commit.after', 'decision.made', 'start.before', 'start.after'].map(
    bySpending,
  ),
];
