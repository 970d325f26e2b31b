import { randomUUID } from 'node:crypto';
import {
  casesOf,
  OUTCOMES,
  PAID,
  POINTS,
  REFUSED,
  refusedOnceThere,
  UNANSWERED,
  type Case,
  type Outcome,
} from './capability.js';
import type { Death, Stage } from './cluster.js';

const AMOUNT_MINOR = 5_000;

const funding = (suffix: string) => ({
  amount_minor: AMOUNT_MINOR,
  transaction_reference: `${randomUUID()}-${suffix}`,
});

async function isFunded(stage: Stage, id: string, { ends, times }: Outcome): Promise<void> {
  await stage.cards.waitForOperation(stage.card, id, ends);
  expect(await stage.effects(id)).toEqual(Array.from({ length: times }, () => 'funded'));
  await stage.isTold(id, [`card.operation.${ends}`]);
}

/** Told by the issuer's event alone. */
const eventOf = ({ who, point }: Death, outcome: Outcome): Case => ({
  name: `a card's funding, told by an event, ${outcome.name}: the ${who} dies at ${point}`,
  async run(stage) {
    const { card, cards, service } = stage;
    const id = await stage.dies([{ who, point }], async () => {
      const asked = funding(outcome === REFUSED ? '006' : '001');
      const { body } = await cards.act(card, 'fund', asked);
      if (outcome === REFUSED) {
        await refusedOnceThere(() => service.bank.tellFunding(body.data.id, 'failed'));
      }
      return body.data.id;
    });
    await isFunded(stage, id, outcome);
    await stage.isQuiet();
  },
});

const EVENT_DEATHS: readonly Death[] = [
  { who: 'api', point: 'event.stored' },
  // The first is that of the funding itself.
  { who: 'api', point: 'start.before:2' },
  { who: 'worker', point: 'event.applied' },
];

/** Locked where it is open, and opened where it is locked. */
async function nextControl({ cards, card }: Stage): Promise<'lock' | 'unlock'> {
  return (await cards.get(card)).status === 'locked' ? 'unlock' : 'lock';
}

export const cards: Case[] = [
  ...casesOf({
    name: "a card's funding",
    outcomes: OUTCOMES,
    async ask(stage, { suffix }) {
      if ((await nextControl(stage)) === 'unlock') await isOpened(stage);
      return { path: `/cards/${stage.card}/fund`, body: funding(suffix) };
    },
    isRight: (stage, { id }, outcome) => isFunded(stage, id, outcome),
    points: POINTS,
  }),
  ...EVENT_DEATHS.flatMap((death) => [eventOf(death, PAID), eventOf(death, REFUSED)]),

  ...casesOf({
    name: "a card's lock or unlock",
    // No issuer may keep a card from being locked: it refuses for now.
    outcomes: [PAID, { ...REFUSED, ends: 'completed', times: 1 }, UNANSWERED],
    ask: async (stage, { suffix }) => ({
      path: `/cards/${stage.card}/${await nextControl(stage)}`,
      body: { request_id: `${randomUUID()}-${suffix}` },
    }),
    async isRight(stage, data, { ends }) {
      const { card } = stage;
      const { type, request_id: request } = await stage.cards.waitForOperation(card, data.id, ends);
      expect((await stage.cards.get(card)).status).toBe(type === 'lock' ? 'locked' : 'active');
      const journal = await stage.service.bank.journal(card);
      const done = journal.filter((entry) => entry.client_reference === request);
      expect(done.map(({ kind }) => kind)).toEqual([
        type === 'lock' ? 'card_locked' : 'card_opened',
      ]);
      await stage.isTold(data.id, [`card.operation.${ends}`]);
    },
    points: POINTS,
  }),
];

/** What an earlier case has left locked. */
async function isOpened(stage: Stage): Promise<void> {
  const { body } = await stage.cards.act(stage.card, 'unlock');
  await stage.cards.waitForOperation(stage.card, body.data.id, 'completed');
  await stage.isQuiet();
}
