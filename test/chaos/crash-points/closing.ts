import { randomUUID } from 'node:crypto';
import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import { eventually } from '../../support/eventually.js';
import { changesOf } from '../../support/cards.js';
import {
  casesOf,
  PAID,
  POINTS,
  REFUSED,
  UNANSWERED,
  VERIFY_POINTS,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster } from './cluster.js';

const LEFT_MINOR = 5_000;

/** Each request closes a funded card of its own. The issuer gives its balance back by an unloading. */
async function newRequest(cluster: Cluster, { suffix }: Outcome) {
  const { cards } = cluster;
  const { id } = await cards.issue();
  const funding = { amount_minor: LEFT_MINOR, transaction_reference: randomUUID() };
  const { body } = await cards.act(id, 'fund', funding);
  await cards.waitForOperation(id, body.data.id, 'completed');
  await cluster.isQuiet();
  return { path: `/cards/${id}/close`, body: { request_id: `${randomUUID()}-${suffix}` } };
}

/** The wallet is credited once, and after the issuer has given the balance back. */
async function isUnloaded(cluster: Cluster, card: string): Promise<void> {
  const { db } = cluster.service.deps.database;
  const unload = await eventually(`the balance of ${card} is given back`, async () => {
    const operations = db.collection<CardOperation>('card_operations');
    return (
      (await operations.findOne({ card_id: card, type: 'unload', status: 'completed' })) ??
      undefined
    );
  });
  expect(await cluster.effects(unload._id)).toEqual(['unloaded']);
  await cluster.isNotified(unload._id, ['card.operation.completed']);
}

async function isClosed(cluster: Cluster, { id, card_id: card }: { id: string; card_id: string }) {
  const { cards, service } = cluster;
  await cards.waitForOperation(card, id, 'completed');
  expect((await cards.get(card)).status).toBe('closed');
  expect((await cards.balance(card)).available_minor).toBe(0);
  await isUnloaded(cluster, card);
  expect(await changesOf(service, card)).toEqual(['card_closed']);
  await cluster.isNotified(id, ['card.operation.completed']);
}

export const closing: Case[] = casesOf({
  name: "a card's closing",
  // An issuer can reject closing only temporarily, so it completes in the end.
  outcomes: [PAID, { ...REFUSED, status: 'completed', times: 1 }, UNANSWERED],
  newRequest,
  isRight: (cluster, data) => isClosed(cluster, data as object as { id: string; card_id: string }),
  points: POINTS,
});

/** A worker dies while it takes the balance of a closed card back; `suffix` selects what the issuer does. */
const unloading = (suffix: string, point: string): Case => ({
  name: `a card's unloading (${suffix}): the worker dies at ${point}`,
  async run(cluster) {
    const { path } = await newRequest(cluster, PAID);
    const card = String(path.split('/')[2]);
    const transaction_reference = `${randomUUID()}-${suffix}`;
    await cluster.dies([{ who: 'worker', point }], () =>
      cluster.post({ path, body: { transaction_reference }, key: randomUUID() }),
    );
    await isUnloaded(cluster, card);
    await cluster.isQuiet();
  },
});

export const unloads: Case[] = [
  // Closing and unloading pass the same points, so the second time may be either of them.
  ...['submit.permitted:2', 'submit.answered:2', 'outcome.before:2', 'outcome.after:2'].map(
    (point) => unloading('789', point),
  ),
  ...VERIFY_POINTS.map((point) => unloading('004', point)),
];
