import { newCard } from '../../support/cards.js';
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

/** Of a card's issuing nobody is told; what the card is to be used with is in no history. */
async function isRight(cluster: Cluster, id: string, { ends, times }: Outcome): Promise<void> {
  const { last4 } = await cluster.cards.waitFor(id, ends === 'completed' ? 'active' : ends);
  expect(last4).toEqual(times === 0 ? null : expect.stringMatching(/^[0-9]{4}$/));
  expect(await cluster.effects(id)).toEqual(Array.from({ length: times }, () => 'issued'));
}

const WORKER = ['submit.permitted', 'submit.answered', 'commit.before', 'commit.after'];
const SETTLED = ['outcome.before', 'outcome.after'];

const issuing = (outcomes: readonly Outcome[], heard: readonly string[]): Case[] =>
  casesOf({
    name: "a card's issuing",
    outcomes,
    ask: (_, { suffix }) => ({ path: '/cards', body: newCard(suffix) }),
    isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
    points: {
      ...POINTS,
      worker: [...WORKER, ...heard, ...SETTLED],
    },
  });

export const cardIssuance: Case[] = [
  // The card is booked where it is heard of, and not once more where the order is settled.
  ...issuing([PAID, UNANSWERED], ['issuance.answered']),
  ...issuing([REFUSED], []),
];
