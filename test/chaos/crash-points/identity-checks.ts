import { eventually } from '../../support/eventually.js';
import { checkBody, identityClient, newCustomerId, newNumber } from '../../support/identity.js';
import { casesOf, OUTCOMES, POINTS, type Case, type Outcome } from './capability.js';
import type { Cluster } from './cluster.js';

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

export const identityChecks: Case[] = casesOf({
  name: 'an identity check',
  outcomes: OUTCOMES,
  newRequest: (_, { suffix }) => ({
    path: `/identity/customers/${newCustomerId()}/kyc/bvn/verify`,
    body: checkBody('bvn', newNumber(suffix)),
  }),
  isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
  points: POINTS,
});
