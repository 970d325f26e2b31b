import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { acquirerEffects, activeToken, type TokenView } from '../../support/payments.js';
import { RECURRING_PATH } from '../../support/recurring.js';
import type { Charge } from '../../../src/capabilities/charges/record.js';
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
  type Capability,
  type Case,
  type NewRequest,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';
import { customerActs } from './pages.js';

/** One period. The token decides the outcome of its charge, and the first answer is lost. */
async function renewalRequest(
  { tokens, service }: Cluster,
  outcome: Outcome,
  startAt: Date | null,
): Promise<NewRequest> {
  const { token } = outcome === REFUSED ? tokens.declined : tokens.good;
  const lost = { call: 'charge', kind: 'drop_after', probability: 1 } as const;
  if (outcome === UNANSWERED) await service.bank.faults([lost]);
  return onePeriod(token, startAt);
}

const onePeriod = (token: TokenView, startAt: Date | null): NewRequest => ({
  path: RECURRING_PATH,
  body: {
    payment_token_id: token.payment_token_id,
    amount_minor: 300_000,
    interval: 'day',
    count: 1,
    ...(startAt && { start_at: startAt.toISOString() }),
  },
});

const chargesOf = ({ service }: Cluster, id: string) =>
  service.deps.database.db.collection<Charge>('charges').find({ 'recurring.id': id }).toArray();

async function isRight(
  cluster: Cluster,
  id: string,
  { status, times }: Outcome,
  earlier: readonly string[] = [],
): Promise<void> {
  const of = () => chargesOf(cluster, id);
  await eventually('its charge has ended', async () =>
    (await of())[0]?.status === status ? true : undefined,
  );
  const made = await of();
  expect(made.map(({ recurring }) => recurring?.period)).toEqual([0]);
  const { reference } = made[0] as Charge;
  const effects = await acquirerEffects(cluster.service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(Array.from({ length: times }, () => 'charged'));
  await cluster.isNotified(reference, [...earlier, `charge.${status}`]);
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

/** A period whose charge the customer must confirm on a page. Each has a payment method of its own. */
async function confirmedRequest(cluster: Cluster, startsAfterMs: number | null) {
  const { token } = await activeToken(cluster.payments, 'later_confirmed');
  await cluster.isQuiet();
  return onePeriod(token, startsAfterMs === null ? null : new Date(Date.now() + startsAfterMs));
}

/** The customer confirms the charge of the period. */
async function confirm(cluster: Cluster, id: string): Promise<void> {
  const charge = await eventually('its charge', async () => (await chargesOf(cluster, id))[0]);
  await customerActs(cluster, charge.reference, PAID);
}

const isConfirmed = (cluster: Cluster, id: string) =>
  isRight(cluster, id, PAID, ['charge.requires_action']);

/** A process dies with the provider's message that the customer has confirmed the charge, which renews the recurring charge. */
const confirmed = (deaths: readonly Death[]): Case => ({
  name: `a renewal that its customer confirms, reported by an event: ${namesOf(deaths)}`,
  async run(cluster) {
    const request = { ...(await confirmedRequest(cluster, null)), key: randomUUID() };
    const { id } = (await cluster.post(request)).body.data;
    const charge = await eventually('its charge', async () => (await chargesOf(cluster, id))[0]);
    await cluster.payments.waitFor(charge.reference, 'requires_action');
    await cluster.dies(deaths, () => confirm(cluster, id));
    await isConfirmed(cluster, id);
    await cluster.isQuiet();
  },
});

export const renewals: Case[] = [
  ...[...EVENT_DEATHS, ...BOOKING_DEATHS].map(confirmed),
  ...casesOf({
    name: 'a renewal by its Schedule that its customer confirms',
    outcomes: [PAID],
    newRequest: (cluster) => confirmedRequest(cluster, BEGINS_AFTER_MS),
    async isRight(cluster, { id }) {
      await confirm(cluster, id);
      await isConfirmed(cluster, id);
    },
    points: {
      api: [],
      // The period's charge, and then the address of its page.
      worker: [
        'renewal.charged',
        'submit.permitted',
        'charge.answered',
        'commit.before:2',
        'commit.after:2',
        'submit.answered',
        'webhook.before',
        'webhook.after',
      ],
      unanswered: [],
      dispatcher: [],
    },
  }),
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
