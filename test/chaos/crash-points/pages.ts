import { randomUUID } from 'node:crypto';
import { activeToken, chargeBody, acquirerEffects, onPage } from '../../support/payments.js';
import {
  BOOKING_DEATHS,
  casesOf,
  EVENT_DEATHS,
  namesOf,
  OUTCOMES,
  PAID,
  REFUSED,
  UNANSWERED,
  VERIFY_POINTS,
  type Case,
  type NewRequest,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

/** Seed with which the first answer about a page is lost and the next seven are not. */
const FIRST_LOST = 'page-95';
const OFTEN_LOST = { call: 'initialize', kind: 'drop_after', probability: 0.5 } as const;

/** A charge with a page, on which the customer's payment is declined or succeeds. */
async function newRequest({ service }: Cluster, outcome: Outcome): Promise<NewRequest> {
  if (outcome === UNANSWERED) await service.bank.faults([OFTEN_LOST], FIRST_LOST);
  return { path: '/payments/charges', body: chargeBody() };
}

async function isRight(cluster: Cluster, reference: string, outcome: Outcome): Promise<void> {
  await customerActs(cluster, reference, outcome);
  await hasEnded(cluster, reference, outcome);
}

/** The customer pays on the charge's page, or is declined there. */
export async function customerActs({ payments }: Cluster, reference: string, outcome: Outcome) {
  const { next_action: page } = await payments.waitFor(reference, 'requires_action');
  await onPage(String(page?.url), outcome === REFUSED ? 'stolen' : 'good');
}

async function hasEnded(cluster: Cluster, reference: string, outcome: Outcome): Promise<void> {
  const { payments, service } = cluster;
  const { status, times } = outcome;
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

const PAGE_POINTS = {
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
};

/**
 * A charge of a saved payment method, for which the provider wants the customer on a page. Each has a method of its own, because a
 * decline may revoke it.
 */
async function confirmedRequest(cluster: Cluster): Promise<NewRequest> {
  const { customer, token } = await activeToken(cluster.payments);
  await cluster.isQuiet();
  const { payment_token_id } = token;
  const given = { capture_mode: 'merchant_initiated', customer, payment_token_id };
  return { path: '/payments/charges', body: chargeBody('026', given) };
}

/** A process dies with the provider's message that the customer has confirmed the charge, or was declined. */
const confirmed = (deaths: readonly Death[], outcome: Outcome): Case => ({
  name: `a charge of a saved method that its customer confirms, ${outcome.name}, reported by an event: ${namesOf(deaths)}`,
  async run(cluster) {
    const request = { ...(await confirmedRequest(cluster)), key: randomUUID() };
    const reference = referenceOf((await cluster.post(request)).body.data);
    await cluster.payments.waitFor(reference, 'requires_action');
    await cluster.dies(deaths, () => customerActs(cluster, reference, outcome));
    await hasEnded(cluster, reference, outcome);
    await cluster.isQuiet();
  },
});

const referenceOf = (data: object) => String((data as { reference?: string }).reference);

export const pages: Case[] = [
  ...[...EVENT_DEATHS, ...BOOKING_DEATHS].flatMap((deaths) =>
    [PAID, REFUSED].map((outcome) => confirmed(deaths, outcome)),
  ),
  ...casesOf({
    name: 'a charge of a saved method that its customer confirms',
    outcomes: [PAID],
    newRequest: confirmedRequest,
    isRight: (cluster, data, outcome) => isRight(cluster, referenceOf(data), outcome),
    points: PAGE_POINTS,
  }),
  ...casesOf({
    name: 'a charge on a page',
    outcomes: OUTCOMES,
    newRequest,
    isRight: (cluster, data, outcome) => isRight(cluster, referenceOf(data), outcome),
    points: PAGE_POINTS,
  }),
];
