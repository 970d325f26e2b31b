import { billClient, billEffects, billPaymentBody } from '../../support/bill-payments.js';
import {
  casesOf,
  EVENT_DEATHS,
  instructionPoints,
  namesOf,
  OUTCOMES,
  PAID,
  POINTS,
  REFUSED,
  refusedOnceThere,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

/** Checks that the biller was paid as often as the outcome requires, that the token is there, and each event once. */
async function isRight(cluster: Cluster, id: string, { status, times }: Outcome): Promise<void> {
  const { receipt } = await billClient(cluster.tenant).waitFor(id, status);
  expect(receipt?.token ?? null).toEqual(times === 0 ? null : expect.any(String));
  const effects = await billEffects(cluster.service, id);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'paid'));
  await cluster.isNotified(id, [`bill_payment.${status}`, 'bill_payment.processing']);
}

/** Reported by a provider event alone: the API dies with it, or after it the worker too. */
const calledBack = (deaths: readonly Death[], suffix: string, outcome: Outcome): Case => ({
  name: `a bill payment, reported by an event, ${outcome.name}: ${namesOf(deaths)}`,
  async run(cluster) {
    const id = await cluster.dies(deaths, async () => {
      const sent = await billClient(cluster.tenant).send(suffix);
      if (outcome === REFUSED) {
        await refusedOnceThere(() => cluster.service.bank.setBillOutcome(sent, 'failed'));
      }
      return sent;
    });
    await isRight(cluster, id, outcome);
    await cluster.isQuiet();
  },
});

export const billPayments: Case[] = [
  ...casesOf({
    name: 'a bill payment',
    outcomes: OUTCOMES,
    newRequest: (_, { suffix }) => ({ path: '/billpay/payments', body: billPaymentBody(suffix) }),
    isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
    // The submission is a commit of its own, with an event.
    points: { ...POINTS, worker: instructionPoints({ commits: 2, events: 2 }) },
  }),
  // The receipt of a prepaid meter is committed with its payment, before the workflow has the result.
  ...casesOf({
    name: 'a bill payment with a token',
    outcomes: [PAID],
    newRequest: (_, { suffix }) => ({ path: '/billpay/payments', body: billPaymentBody(suffix) }),
    isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
    points: { api: [], worker: ['bill.answered'], unanswered: [], dispatcher: [] },
  }),
  ...EVENT_DEATHS.flatMap((deaths) => [
    calledBack(deaths, '001', PAID),
    calledBack(deaths, '006', REFUSED),
  ]),
];
