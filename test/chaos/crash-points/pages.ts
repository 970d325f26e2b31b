import { chargeBody, acquirerEffects, onPage } from '../../support/payments.js';
import {
  casesOf,
  OUTCOMES,
  REFUSED,
  UNANSWERED,
  VERIFY_POINTS,
  type Case,
  type NewRequest,
  type Outcome,
} from './capability.js';
import type { Cluster } from './cluster.js';

/** Seed with which the first answer about a page is lost and the next seven are not. */
const FIRST_LOST = 'page-95';
const OFTEN_LOST = { call: 'initialize', kind: 'drop_after', probability: 0.5 } as const;

/** A charge with a page, on which the customer's payment is declined or succeeds. */
async function newRequest({ service }: Cluster, outcome: Outcome): Promise<NewRequest> {
  if (outcome === UNANSWERED) await service.bank.faults([OFTEN_LOST], FIRST_LOST);
  return { path: '/payments/charges', body: chargeBody() };
}

async function isRight(cluster: Cluster, reference: string, outcome: Outcome): Promise<void> {
  const { payments, service } = cluster;
  const { status, times } = outcome;
  const { next_action: page } = await payments.waitFor(reference, 'requires_action');
  await onPage(String(page?.url), outcome === REFUSED ? 'stolen' : 'good');
  await payments.waitFor(reference, status);
  if (outcome === UNANSWERED) {
    // A second submission shows that the first answer was really lost.
    const charge = await service.deps.charges.store.byReference(cluster.tenant.id, reference);
    expect(charge?.submissions).toBeGreaterThan(1);
  }
  const effects = await acquirerEffects(service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'charged'));
  await cluster.isNotified(reference, ['charge.requires_action', `charge.${status}`]);
}

export const pages: Case[] = casesOf({
  name: 'a charge on a page',
  outcomes: OUTCOMES,
  newRequest,
  isRight: (cluster, data, outcome) =>
    isRight(cluster, String((data as { reference?: string }).reference), outcome),
  points: {
    api: ['claim.written'],
    // Up to the page's URL, which is one commit with an event. The outcome comes by callback.
    worker: [
      'submit.permitted',
      'charge.answered',
      'commit.before',
      'commit.after',
      'webhook.before',
      'webhook.after',
      'submit.answered',
    ],
    unanswered: VERIFY_POINTS,
    dispatcher: [],
  },
});
