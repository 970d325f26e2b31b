import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { chargeBody, acquirerEffects, refundEffects } from '../../support/payments.js';
import {
  casesOf,
  EVENT_DEATHS,
  namesOf,
  OUTCOMES,
  PAID,
  POINTS,
  REFUSED,
  refusedOnceThere,
  type Case,
  type NewRequest,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

function chargeRequest({ tokens: { good } }: Cluster, suffix: string): NewRequest {
  const { customer, token } = good;
  const { payment_token_id } = token;
  const given = { capture_mode: 'merchant_initiated', customer, payment_token_id };
  return { path: '/payments/charges', body: chargeBody(suffix, given) };
}

async function isCharged(cluster: Cluster, reference: string, { status, times }: Outcome) {
  await cluster.payments.waitFor(reference, status);
  const effects = await acquirerEffects(cluster.service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'charged'));
  await cluster.isNotified(reference, [`charge.${status}`]);
}

const refundRequest = ({ paidCharge }: Cluster, suffix: string): NewRequest => ({
  path: '/payments/refunds',
  body: {
    charge_reference: paidCharge,
    amount_minor: 1_000,
    reference: `refund-${randomUUID()}-${suffix}`,
  },
});

async function isRefunded(cluster: Cluster, reference: string, { status, times }: Outcome) {
  await eventually(`${reference} is ${status}`, async () =>
    (await cluster.payments.getRefund(reference)).status === status ? true : undefined,
  );
  const effects = await refundEffects(cluster.service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'refunded'));
  await cluster.isNotified(reference, [`refund.${status}`]);
}

const referenceOf = (data: object) => String((data as { reference?: string }).reference);

type ReportedLater = {
  name: string;
  newRequest: typeof chargeRequest;
  isRight: typeof isCharged;
  /** Sets the outcome of a pending charge or refund to rejected; returns the HTTP status of that request. */
  refuse: (cluster: Cluster, reference: string) => Promise<number>;
};

/** Reported by a provider event alone: the API dies with it, or after it the worker too. */
const calledBack = (
  { name, newRequest, isRight, refuse }: ReportedLater,
  deaths: readonly Death[],
  outcome: Outcome,
): Case => ({
  name: `${name}, reported by an event, ${outcome.name}: ${namesOf(deaths)}`,
  async run(cluster) {
    const suffix = outcome === REFUSED ? '006' : '001';
    const request = { ...newRequest(cluster, suffix), key: randomUUID() };
    const reference = await cluster.dies(deaths, async () => {
      const of = referenceOf((await cluster.post(request)).body.data);
      if (outcome === REFUSED) await refusedOnceThere(() => refuse(cluster, of));
      return of;
    });
    await isRight(cluster, reference, outcome);
    await cluster.isQuiet();
  },
});

const REPORTED_LATER: readonly ReportedLater[] = [
  {
    name: 'a charge',
    newRequest: chargeRequest,
    isRight: isCharged,
    refuse: ({ service }, reference) => service.bank.setChargeOutcome(reference, 'declined'),
  },
  {
    name: 'a refund',
    newRequest: refundRequest,
    isRight: isRefunded,
    refuse: ({ service }, reference) => service.bank.setRefundOutcome(reference, 'failed'),
  },
];

export const payments: Case[] = [
  ...casesOf({
    name: 'a charge without the customer',
    outcomes: OUTCOMES,
    newRequest: (cluster, { suffix }) => chargeRequest(cluster, suffix),
    isRight: (cluster, data, outcome) => isCharged(cluster, referenceOf(data), outcome),
    points: { ...POINTS, worker: [...POINTS.worker, 'charge.answered'] },
  }),
  // The provider has no idempotent reference for refunds: each request that it accepts refunds again.
  ...casesOf({
    name: 'a refund',
    outcomes: OUTCOMES,
    newRequest: (cluster, { suffix }) => refundRequest(cluster, suffix),
    isRight: (cluster, data, outcome) => isRefunded(cluster, referenceOf(data), outcome),
    points: POINTS,
  }),
  ...EVENT_DEATHS.flatMap((deaths) =>
    REPORTED_LATER.flatMap((reported) =>
      [PAID, REFUSED].map((outcome) => calledBack(reported, deaths, outcome)),
    ),
  ),
];
