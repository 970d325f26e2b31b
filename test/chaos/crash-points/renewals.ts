import { eventually } from '../../support/eventually.js';
import { acquirerEffects } from '../../support/payments.js';
import { RECURRING_PATH } from '../../support/recurring.js';
import type { Charge } from '../../../src/capabilities/charges/record.js';
import {
  casesOf,
  OUTCOMES,
  REFUSED,
  UNANSWERED,
  VERIFY_POINTS,
  type Capability,
  type Case,
  type NewRequest,
  type Outcome,
} from './capability.js';
import type { Cluster } from './cluster.js';

/** One period. The token decides the outcome of its charge, and the first answer is lost. */
async function renewalRequest(
  { tokens, service }: Cluster,
  outcome: Outcome,
  startAt: Date | null,
): Promise<NewRequest> {
  const { token } = outcome === REFUSED ? tokens.declined : tokens.good;
  const lost = { call: 'charge', kind: 'drop_after', probability: 1 } as const;
  if (outcome === UNANSWERED) await service.bank.faults([lost]);
  return {
    path: RECURRING_PATH,
    body: {
      payment_token_id: token.payment_token_id,
      amount_minor: 300_000,
      interval: 'day',
      count: 1,
      ...(startAt && { start_at: startAt.toISOString() }),
    },
  };
}

async function isRight(cluster: Cluster, id: string, { status, times }: Outcome): Promise<void> {
  const charges = cluster.service.deps.database.db.collection<Charge>('charges');
  const of = () => charges.find({ 'recurring.id': id }).toArray();
  await eventually('its charge has ended', async () =>
    (await of())[0]?.status === status ? true : undefined,
  );
  const made = await of();
  expect(made.map(({ recurring }) => recurring?.period)).toEqual([0]);
  const { reference } = made[0] as Charge;
  const effects = await acquirerEffects(cluster.service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'charged'));
  await cluster.isNotified(reference, [`charge.${status}`]);
  const renewed = times === 1 ? ['recurring_charge.renewed'] : [];
  await cluster.isNotified(id, [...renewed, 'recurring_charge.ended']);
  const recurring = await cluster.service.deps.recurringCharges.store.find(id);
  expect(recurring).toMatchObject({ status: 'ended', charged_periods: 1 });
}

const shared: Pick<Capability, 'outcomes' | 'isRight'> = {
  outcomes: OUTCOMES,
  isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
};

/** Long enough to arm the failpoint and to send the request: the API would start a charge that is due at once. */
const BEGINS_AFTER_MS = 8_000;

export const renewals: Case[] = [
  ...casesOf({
    name: 'a recurring charge that begins at once',
    ...shared,
    newRequest: (cluster, outcome) => renewalRequest(cluster, outcome, null),
    points: {
      api: [
        'claim.written',
        'commit.before',
        'commit.after',
        'start.before',
        'start.after',
        'schedule.before',
        'schedule.after',
      ],
      worker: [],
      unanswered: [],
      dispatcher: ['dispatch.started'],
    },
  }),
  ...casesOf({
    name: 'a renewal by its Schedule',
    ...shared,
    newRequest: (cluster, outcome) =>
      renewalRequest(cluster, outcome, new Date(Date.now() + BEGINS_AFTER_MS)),
    points: {
      api: [],
      // The period's charge and its outcome, which updates the recurring charge in the same commit.
      worker: [
        'renewal.before',
        'commit.before',
        'commit.after',
        'renewal.charged',
        'start.before',
        'start.after',
        'submit.permitted',
        'submit.answered',
        'charge.answered',
        'commit.before:2',
        'commit.after:2',
        'outcome.before',
        'outcome.after',
        'webhook.before',
        'webhook.after',
        'webhook.after:2',
      ],
      unanswered: VERIFY_POINTS,
      dispatcher: [],
    },
  }),
];
