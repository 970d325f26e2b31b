import { randomUUID } from 'node:crypto';
import { cardEventClient } from '../../support/card-events.js';
import { eventually } from '../../support/eventually.js';
import { API_POINTS, casesOf, DISPATCH_POINTS, PAID, type Case } from './capability.js';
import type { Cluster } from './cluster.js';

/** Creates a funding that the issuer has reported; returns that event. */
async function newRequest(cluster: Cluster) {
  const { cards, tenant } = cluster;
  const { id: card } = await cards.issue();
  const funding = { amount_minor: 5_000, transaction_reference: `${randomUUID()}-001` };
  const { body } = await cards.act(card, 'fund', funding);
  await cards.waitForOperation(card, body.data.id, 'completed');
  await cluster.isQuiet();
  const { data } = (await cardEventClient(tenant).list(card, '?limit=1')).body;
  expect(data).toMatchObject([{ event: 'card.funded', status: 'processed' }]);
  return { path: `/webhooks/cards/events/${data[0]?.id}/replay`, body: {} };
}

/** Checks that the replay completed and changed nothing: the card's balance is still the issuer's. */
async function isRight({ tenant, service }: Cluster, made: { id: string; event_id: string }) {
  const { replayed } = cardEventClient(tenant);
  await eventually(`${made.id} is completed`, async () =>
    (await replayed(made.event_id, made.id)).body.data.status === 'completed' ? true : undefined,
  );
  const { db } = service.deps.database;
  const replays = { event_id: made.event_id };
  expect(await db.collection('provider_event_replays').countDocuments(replays)).toBe(1);
}

export const replays: Case[] = casesOf({
  name: "a card event's replay",
  outcomes: [PAID],
  newRequest,
  isRight: (cluster, data) => isRight(cluster, data as object as { id: string; event_id: string }),
  points: {
    api: API_POINTS,
    worker: ['provider_event.applied'],
    unanswered: [],
    dispatcher: DISPATCH_POINTS,
  },
});
