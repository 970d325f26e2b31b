import { randomUUID } from 'node:crypto';
import { changesOf } from '../../support/cards.js';
import {
  casesOf,
  PAID,
  POINTS,
  REFUSED,
  UNANSWERED,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster } from './cluster.js';

const LEFT_MINOR = 5_000;

/** Each request closes a funded card of its own: closing returns the card's balance to the wallet. */
async function newRequest(cluster: Cluster, { suffix }: Outcome) {
  const { cards } = cluster;
  const { id } = await cards.issue();
  const funding = { amount_minor: LEFT_MINOR, transaction_reference: randomUUID() };
  const { body } = await cards.act(id, 'fund', funding);
  await cards.waitForOperation(id, body.data.id, 'completed');
  await cluster.isQuiet();
  return { path: `/cards/${id}/close`, body: { request_id: `${randomUUID()}-${suffix}` } };
}

async function isClosed(cluster: Cluster, { id, card_id: card }: { id: string; card_id: string }) {
  const { cards, service } = cluster;
  await cards.waitForOperation(card, id, 'completed');
  expect((await cards.get(card)).status).toBe('closed');
  expect((await cards.balance(card)).available_minor).toBe(0);
  const { db } = service.deps.database;
  const givenBack = { _id: { $regex: `^${card}/balance-return-` } } as object;
  expect(await db.collection('postings').countDocuments(givenBack)).toBe(1);
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
