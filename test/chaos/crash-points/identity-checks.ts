import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { checkBody, identityClient, newCustomerId, newNumber } from '../../support/identity.js';
import {
  casesOf,
  EVENT_DEATHS,
  namesOf,
  OUTCOMES,
  PAID,
  POINTS,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

/** A check ends once and rightly, its customer shows it, and its number is gone. */
async function isRight(cluster: Cluster, id: string, { status }: Outcome): Promise<void> {
  const wanted = status === 'completed' ? 'verified' : 'rejected';
  const check = await eventually(`${id} has ended`, async () => {
    const found = await cluster.service.deps.identityChecks.store.find(id);
    return found && found.completed_at !== null ? found : undefined;
  });
  const identity = identityClient(cluster.tenant);
  expect(check.sealed).toBeNull();
  expect(await identity.get(check.customer_id, id)).toMatchObject({ status: wanted });
  expect((await identity.customer(check.customer_id)).kyc.bvn).toBe(wanted);
  expect(await cluster.effects(id)).toEqual(['checked']);
  await cluster.isNotified(id, ['kyc.completed']);
}

/** A check that an event alone reports: the API dies with the event, or after it the worker too. */
const checkedByEvent = (deaths: readonly Death[]): Case => ({
  name: `an identity check, reported by an event: ${namesOf(deaths)}`,
  async run(cluster) {
    const body = checkBody('bvn', newNumber('001'));
    const [customer, key] = [newCustomerId(), randomUUID()];
    const verify = () => identityClient(cluster.tenant).verify(customer, { body }, { key });
    // The event may be faster than the answer, which is lost then.
    const first = await cluster.dies(deaths, () => verify().catch(() => null));
    const { body: answer } = first ?? (await verify());
    await isRight(cluster, answer.data.id, PAID);
    await cluster.isQuiet();
  },
});

export const identityChecks: Case[] = [
  ...casesOf({
    name: 'an identity check',
    outcomes: OUTCOMES,
    newRequest: (_, { suffix }) => ({
      path: `/identity/customers/${newCustomerId()}/kyc/bvn/verify`,
      body: checkBody('bvn', newNumber(suffix)),
    }),
    isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
    points: POINTS,
  }),
  ...EVENT_DEATHS.map(checkedByEvent),
];
