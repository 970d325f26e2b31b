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

/** Issuing a card emits no event, and no history has the card's number. */
async function isRight(cluster: Cluster, id: string, { status, times }: Outcome): Promise<void> {
  const { last4 } = await cluster.cards.waitFor(id, status === 'completed' ? 'active' : status);
  expect(last4).toEqual(times === 0 ? null : expect.stringMatching(/^[0-9]{4}$/));
  expect(await cluster.effects(id)).toEqual(Array.from({ length: times }, () => 'issued'));
}

const WORKER = ['submit.permitted', 'submit.answered', 'commit.before', 'commit.after'];
const OUTCOME_POINTS = ['outcome.before', 'outcome.after'];

const issuing = (outcomes: readonly Outcome[], eventPoints: readonly string[]): Case[] =>
  casesOf({
    name: "a card's issuing",
    outcomes,
    newRequest: (_, { suffix }) => ({ path: '/cards', body: newCard(suffix) }),
    isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
    points: {
      ...POINTS,
      worker: [...WORKER, ...eventPoints, ...OUTCOME_POINTS],
    },
  });

export const cardIssuance: Case[] = [
  // The provider's answer already stores the card, so applying the outcome does not store it again.
  ...issuing([PAID, UNANSWERED], ['issuance.answered']),
  ...issuing([REFUSED], []),
];
