import { randomUUID } from 'node:crypto';
import { eventually } from '../../test/support/eventually.js';
import { chargeOrder, networkEffects, refundEffects } from '../../test/support/payments.js';
import {
  casesOf,
  OUTCOMES,
  PAID,
  pursuitPoints,
  VERIFY_POINTS,
  type Case,
  type Order,
  type Outcome,
} from './capability.js';
import type { Stage } from './stage.js';

const POINTS = {
  api: ['commit.before', 'commit.after', 'start.after'],
  worker: pursuitPoints(),
  unanswered: VERIFY_POINTS,
  dispatcher: ['dispatch.started'],
};

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

/** Told by callback alone: the API dies with it in its hands. */
const calledBack = (
  name: string,
  point: string,
  ask: typeof chargeAsked,
  isRight: typeof isCharged,
): Case => ({
  name: `${name}, told by callback: the API dies at ${point}`,
  async run(stage) {
    const asked = { ...ask(stage, '001'), key: randomUUID() };
    const { body } = await stage.dies([{ who: 'api', point }], () => stage.post(asked));
    await isRight(stage, referenceOf(body.data), PAID);
    await stage.isQuiet();
  },
});

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
  ...['callback.stored', 'callback.applied'].flatMap((point) => [
    calledBack('a charge', point, chargeAsked, isCharged),
    calledBack('a refund', point, refundAsked, isRefunded),
  ]),
];
