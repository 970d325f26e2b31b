import { randomUUID } from 'node:crypto';
import {
  afterReceiver,
  casesOf,
  EVENT_DEATHS,
  namesOf,
  OUTCOMES,
  PAID,
  POINTS,
  REFUSED,
  refusedOnceThere,
  UNANSWERED,
  type Case,
  type Outcome,
} from './capability.js';
import type { Death, Cluster } from './cluster.js';

const AMOUNT_MINOR = 5_000;

const funding = (suffix: string) => ({
  amount_minor: AMOUNT_MINOR,
  transaction_reference: `${randomUUID()}-${suffix}`,
});

async function isFunded(cluster: Cluster, id: string, { status, times }: Outcome): Promise<void> {
  await cluster.cards.waitForOperation(cluster.card, id, status);
  expect(await cluster.effects(id)).toEqual(Array.from({ length: times }, () => 'funded'));
  await cluster.isNotified(id, [`card.operation.${status}`]);
}

/** The outcome comes by the issuer's event alone. */
const eventOf = (deaths: readonly Death[], outcome: Outcome): Case => ({
  name: `a card's funding, reported by an event, ${outcome.name}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { card, cards, service } = cluster;
    const id = await cluster.dies(deaths, async () => {
      const fields = funding(outcome === REFUSED ? '006' : '001');
      const { body } = await cards.act(card, 'fund', fields);
      if (outcome === REFUSED) {
        await refusedOnceThere(() => service.bank.setFundingOutcome(body.data.id, 'failed'));
      }
      return body.data.id;
    });
    await isFunded(cluster, id, outcome);
    await cluster.isQuiet();
  },
});

/** The change that applies to the card's present state. */
async function nextControl({ cards, card }: Cluster): Promise<'lock' | 'unlock'> {
  return (await cards.get(card)).status === 'locked' ? 'unlock' : 'lock';
}

export const cards: Case[] = [
  ...casesOf({
    name: "a card's funding",
    outcomes: OUTCOMES,
    async newRequest(cluster, { suffix }) {
      if ((await nextControl(cluster)) === 'unlock') await isOpened(cluster);
      return { path: `/cards/${cluster.card}/fund`, body: funding(suffix) };
    },
    isRight: (cluster, { id }, outcome) => isFunded(cluster, id, outcome),
    points: POINTS,
  }),
  ...[...EVENT_DEATHS, afterReceiver('start.before')].flatMap((deaths) => [
    eventOf(deaths, PAID),
    eventOf(deaths, REFUSED),
  ]),

  ...casesOf({
    name: "a card's lock or unlock",
    // An issuer can reject a lock only temporarily, so it completes in the end.
    outcomes: [PAID, { ...REFUSED, status: 'completed', times: 1 }, UNANSWERED],
    newRequest: async (cluster, { suffix }) => ({
      path: `/cards/${cluster.card}/${await nextControl(cluster)}`,
      body: { request_id: `${randomUUID()}-${suffix}` },
    }),
    async isRight(cluster, data, { status }) {
      const { card } = cluster;
      const { type, request_id: request } = await cluster.cards.waitForOperation(
        card,
        data.id,
        status,
      );
      expect((await cluster.cards.get(card)).status).toBe(type === 'lock' ? 'locked' : 'active');
      const journal = await cluster.service.bank.journal(card);
      const done = journal.filter((entry) => entry.client_reference === request);
      expect(done.map(({ kind }) => kind)).toEqual([
        type === 'lock' ? 'card_locked' : 'card_opened',
      ]);
      await cluster.isNotified(data.id, [`card.operation.${status}`]);
    },
    points: POINTS,
  }),
];

/** Unlocks a card that an earlier case left locked. */
async function isOpened(cluster: Cluster): Promise<void> {
  const { body } = await cluster.cards.act(cluster.card, 'unlock');
  await cluster.cards.waitForOperation(cluster.card, body.data.id, 'completed');
  await cluster.isQuiet();
}
