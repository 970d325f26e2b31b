import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { chargeOrder, networkEffects, refundEffects } from '../../support/payments.js';
import {
  casesOf,
  OUTCOMES,
  PAID,
  POINTS,
  REFUSED,
  refusedOnceThere,
  type Case,
  type Order,
  type Outcome,
} from './capability.js';
import type { Stage } from './cluster.js';

function chargeAsked({ tokens: { good } }: Stage, suffix: string): Order {
  const { customer, token } = good;
  const { payment_token_id } = token;
  const given = { capture_mode: 'merchant_initiated', customer, payment_token_id };
  return { path: '/payments/charges', body: chargeOrder(suffix, given) };
}

async function isCharged(stage: Stage, reference: string, { ends, times }: Outcome) {
  await stage.payments.waitFor(reference, ends);
  const effects = await networkEffects(stage.service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'charged'));
  await stage.isTold(reference, [`charge.${ends}`]);
}

const refundAsked = ({ paidCharge }: Stage, suffix: string): Order => ({
  path: '/payments/refunds',
  body: {
    charge_reference: paidCharge,
    amount_minor: 1_000,
    reference: `refund-${randomUUID()}-${suffix}`,
  },
});

async function isRefunded(stage: Stage, reference: string, { ends, times }: Outcome) {
  await eventually(`${reference} is ${ends}`, async () =>
    (await stage.payments.getRefund(reference)).status === ends ? true : undefined,
  );
  const effects = await refundEffects(stage.service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'refunded'));
  await stage.isTold(reference, [`refund.${ends}`]);
}

const referenceOf = (data: object) => String((data as { reference?: string }).reference);

type ToldLater = {
  name: string;
  ask: typeof chargeAsked;
  isRight: typeof isCharged;
  /** Has the network refuse what it keeps pending; the status of that. */
  refuse: (stage: Stage, reference: string) => Promise<number>;
};

/** Told by callback alone: the API dies with it in its hands. */
const calledBack = (
  { name, ask, isRight, refuse }: ToldLater,
  point: string,
  outcome: Outcome,
): Case => ({
  name: `${name}, told by callback, ${outcome.name}: the API dies at ${point}`,
  async run(stage) {
    const suffix = outcome === REFUSED ? '006' : '001';
    const asked = { ...ask(stage, suffix), key: randomUUID() };
    const reference = await stage.dies([{ who: 'api', point }], async () => {
      const of = referenceOf((await stage.post(asked)).body.data);
      if (outcome === REFUSED) await refusedOnceThere(() => refuse(stage, of));
      return of;
    });
    await isRight(stage, reference, outcome);
    await stage.isQuiet();
  },
});

const TOLD_LATER: readonly ToldLater[] = [
  {
    name: 'a charge',
    ask: chargeAsked,
    isRight: isCharged,
    refuse: ({ service }, reference) => service.bank.tellCharge(reference, 'declined'),
  },
  {
    name: 'a refund',
    ask: refundAsked,
    isRight: isRefunded,
    refuse: ({ service }, reference) => service.bank.tellRefund(reference, 'failed'),
  },
];

export const payments: Case[] = [
  ...casesOf({
    name: 'a charge without the customer',
    outcomes: OUTCOMES,
    ask: (stage, { suffix }) => chargeAsked(stage, suffix),
    isRight: (stage, data, outcome) => isCharged(stage, referenceOf(data), outcome),
    points: { ...POINTS, worker: [...POINTS.worker, 'charge.heard'] },
  }),
  // The provider takes no reference of ours for these, and refunds again whatever it takes.
  ...casesOf({
    name: 'a refund',
    outcomes: OUTCOMES,
    ask: (stage, { suffix }) => refundAsked(stage, suffix),
    isRight: (stage, data, outcome) => isRefunded(stage, referenceOf(data), outcome),
    points: POINTS,
  }),
  ...['callback.stored', 'callback.applied'].flatMap((point) =>
    TOLD_LATER.flatMap((told) =>
      [PAID, REFUSED].map((outcome) => calledBack(told, point, outcome)),
    ),
  ),
];
