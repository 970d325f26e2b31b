import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import type { Act } from '../../../src/core/audit/entry.js';
import { newId } from '../../../src/shared/ids.js';
import { onPage, chargeBody, acquirerEffects, refundEffects } from '../../support/payments.js';
import {
  BOOKING_DEATHS,
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

/** A refund waits for the customer's account, which the provider gets although the worker dies meanwhile. */
const resumed: Case = {
  name: 'a refund that needs an account of the customer: the worker dies at refund.resumed',
  async run(cluster) {
    const request = { ...refundRequest(cluster, '012'), key: randomUUID() };
    const reference = referenceOf((await cluster.post(request)).body.data);
    const { store, starter } = cluster.service.deps.refunds;
    const refund = await eventually('it waits for an account', async () => {
      const found = await store.byReference(cluster.tenant.id, reference);
      return found?.attention && found.provider_refund_id !== null ? found : undefined;
    });
    await cluster.dies([{ who: 'worker', point: 'refund.resumed' }], async () => {
      const account = { number: '0123456789', bank_code: '058' };
      starter.notifyChangedSoon(
        (await store.nameAccount(refund, account, actOn(refund))) ?? refund,
      );
    });
    await isRefunded(cluster, reference, PAID);
    expect((await store.find(refund._id))?.customer_account).toBeNull();
    await cluster.isQuiet();
  },
};

/** A refund fails after it was made, while a process dies: its amount is in the wallet again, once. */
const failedLate = (deaths: readonly Death[]): Case => ({
  name: `a refund that fails after its success: ${namesOf(deaths)}`,
  async run(cluster) {
    const { service, tenant } = cluster;
    const before = await tenant.balance();
    const request = { ...refundRequest(cluster, '789'), key: randomUUID() };
    const reference = referenceOf((await cluster.post(request)).body.data);
    await isRefunded(cluster, reference, PAID);
    await cluster.isQuiet();
    await cluster.dies(deaths, () => service.bank.setRefundOutcome(reference, 'failed'));
    await eventually('it has failed', async () =>
      (await cluster.payments.getRefund(reference)).status === 'failed' ? true : undefined,
    );
    const effects = await refundEffects(service, reference);
    expect(effects.map(({ kind }) => kind)).toEqual(['refunded', 'refund_returned']);
    await cluster.isNotified(reference, ['refund.completed', 'refund.failed']);
    await cluster.isQuiet();
    expect(await tenant.balance()).toEqual(before);
  },
});

/** A payment of another amount is in suspense, and is refunded to the customer once. */
const returned = (point: string): Case => ({
  name: `a payment that an operator returns from suspense: the worker dies at ${point}`,
  async run(cluster) {
    const { payments: client, service, tenant } = cluster;
    const { reference, url } = await client.page('014');
    await onPage(url);
    await client.waitFor(reference, ({ attention }) => attention !== null);
    const { charges, refunds } = service.deps;
    const charge = await charges.store.byReference(tenant.id, reference);
    if (!charge) throw new Error(`there is no ${reference}`);
    const id = newId('refund');
    await cluster.dies([{ who: 'worker', point }], async () => {
      const order = { tenantId: tenant.id, id, charge: charge._id, attempt: 1, act: actOn(charge) };
      const refund = await refunds.store.orderReturn(order);
      if (refund) refunds.starter.startSoon(refund);
    });
    await isRefunded(cluster, id, PAID);
    await client.waitFor(reference, 'failed');
    await cluster.isNotified(reference, ['charge.failed', 'charge.requires_action']);
    await cluster.isQuiet();
  },
});

const actOn = ({ _id: target, tenant_id: tenantId }: { _id: string; tenant_id: string }): Act => ({
  id: randomUUID(),
  actor: { operator: 'opr_1', name: 'ada', roles: [] },
  action: 'refunds.act',
  target,
  tenantId,
  reason: 'asked',
  requestId: null,
  approval: null,
});

export const payments: Case[] = [
  resumed,
  ...BOOKING_DEATHS.map(failedLate),
  ...['submit.permitted', 'submit.answered', 'outcome.before', 'outcome.after'].map(returned),
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
