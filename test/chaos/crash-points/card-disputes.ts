import { randomUUID } from 'node:crypto';
import { authorizationId } from '../../../src/capabilities/card-authorizations/record.js';
import type { CardDispute } from '../../../src/capabilities/card-disputes/record.js';
import { eventually } from '../../support/eventually.js';
import {
  casesOf,
  EVENT_DEATHS,
  namesOf,
  OUTCOMES,
  PAID,
  POINTS,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

const AMOUNT_MINOR = 5_000;

/** Each request disputes a payment of its own, which the wallet has paid. */
async function newRequest(cluster: Cluster, { suffix }: Outcome) {
  const payment = { kind: 'financial', amount_minor: AMOUNT_MINOR } as const;
  const { token } = await cluster.approved(payment);
  const transaction_reference = `${randomUUID()}-${suffix}`;
  const words = { reason: 'not_received', explanation: 'The order has not come.' };
  return {
    path: `/cards/authorizations/${authorizationId('sandbox-bank', token)}/disputes`,
    body: { ...words, transaction_reference },
  };
}

const becomes = (cluster: Cluster, id: string, wanted: Partial<CardDispute>) =>
  eventually(
    `the dispute is ${JSON.stringify({ ...wanted, credited_minor: undefined })}`,
    async () => {
      const { db } = cluster.service.deps.database;
      const found = await db.collection<CardDispute>('card_disputes').findOne({ _id: id });
      const is =
        found?.status === wanted.status &&
        (wanted.credited_minor === undefined || found?.credited_minor === wanted.credited_minor);
      return is && found ? found : undefined;
    },
  );

async function isRight(cluster: Cluster, { id }: { id: string }, { status }: Outcome) {
  const isPursued = status === 'completed';
  const { operation_id: operation } = await becomes(cluster, id, {
    status: isPursued ? 'open' : 'failed',
  });
  const effects = [isPursued ? 'card_disputed' : 'card_dispute_refused'];
  expect(await cluster.effects(operation)).toEqual(effects);
  await cluster.isNotified(id, [`card.dispute.${isPursued ? 'opened' : 'failed'}`]);
}

/** An open dispute of a new payment. */
async function opened(cluster: Cluster) {
  const request = await newRequest(cluster, PAID);
  const { status, body, text } = await cluster.post({ ...request, key: randomUUID() });
  if (status !== 201) throw new Error(text);
  const { id } = body.data as { id: string };
  await becomes(cluster, id, { status: 'open' });
  await cluster.isQuiet();
  return { id, reference: request.body.transaction_reference };
}

/** The issuer gives a provisional credit, and then decides the dispute; the process that hears of it dies. */
const decided = (decision: 'won' | 'lost', deaths: readonly Death[]): Case => ({
  name: `a card dispute that is ${decision}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { id, reference } = await opened(cluster);
    const { bank } = cluster.service;
    await bank.setCardDispute(reference, 'credited');
    await becomes(cluster, id, { status: 'open', credited_minor: BigInt(AMOUNT_MINOR) });
    await cluster.isQuiet();
    const before = await cluster.tenant.balance();
    await cluster.dies(deaths, () => bank.setCardDispute(reference, decision));
    await becomes(cluster, id, { status: decision });
    await cluster.isQuiet();
    const backMinor = decision === 'lost' ? AMOUNT_MINOR : 0;
    expect((await cluster.tenant.balance()).available).toBe(before.available - backMinor);
  },
});

/**
 * A worker dies while a dispute with a provisional credit is withdrawn, which takes the credit back once. The issuer also
 * reports the withdrawal, so nothing has to be verified.
 */
const withdrawn = (point: string): Case => ({
  name: `a card dispute's withdrawal: the worker dies at ${point}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { id, reference } = await opened(cluster);
    await cluster.service.bank.setCardDispute(reference, 'credited');
    await becomes(cluster, id, { status: 'open', credited_minor: BigInt(AMOUNT_MINOR) });
    await cluster.isQuiet();
    await cluster.dies([{ who: 'worker', point }], () =>
      cluster.post({ path: `/cards/disputes/${id}/cancel`, body: {}, key: randomUUID() }),
    );
    const { operation_id: operation } = await becomes(cluster, id, { status: 'cancelled' });
    expect(await cluster.effects(operation)).toEqual([
      'card_disputed',
      'card_dispute_credited',
      'card_dispute_withdrawn',
    ]);
    await cluster.isQuiet();
    expect((await cluster.tenant.balance()).available).toBe(before.available - AMOUNT_MINOR);
  },
});

export const cardDisputes: Case[] = [
  ...casesOf({
    name: 'a card dispute',
    outcomes: OUTCOMES,
    newRequest,
    isRight,
    points: POINTS,
  }),
  ...(['won', 'lost'] as const).flatMap((decision) =>
    EVENT_DEATHS.map((deaths) => decided(decision, deaths)),
  ),
  ...['submit.permitted', 'submit.answered', 'outcome.before', 'outcome.after'].map((point) =>
    withdrawn(point),
  ),
];
