import type { Dispute } from '../../../src/capabilities/disputes/record.js';
import type { Refund } from '../../../src/capabilities/refunds/record.js';
import { eventually } from '../../support/eventually.js';
import { afterReceiver, BOOKING_DEATHS, namesOf, type Case } from './capability.js';
import type { Cluster, Death } from './cluster.js';

const AMOUNT_MINOR = 40_000;

/** A payment of its own, and the balance after it. */
async function paid(cluster: Cluster) {
  const { reference } = await cluster.payments.paid();
  await cluster.isQuiet();
  const { available } = await cluster.tenant.balance();
  return { reference, available };
}

const disputeOf = (cluster: Cluster, reference: string, status: Dispute['status']) =>
  eventually(`the dispute of ${reference} is ${status}`, async () => {
    const { db } = cluster.service.deps.database;
    const of = { charge_reference: reference, status };
    return (await db.collection<Dispute>('disputes').findOne(of)) ?? undefined;
  });

async function has(cluster: Cluster, available: number): Promise<void> {
  await cluster.isQuiet();
  expect(await cluster.tenant.balance()).toEqual({ available, held: 0 });
}

/** The network takes a disputed amount while a process dies: the wallet pays it once. */
const opened = (deaths: readonly Death[]): Case => ({
  name: `a dispute of a charge that is opened: ${namesOf(deaths)}`,
  async run(cluster) {
    const { reference, available } = await paid(cluster);
    const amount = { amount_minor: AMOUNT_MINOR };
    await cluster.dies(deaths, () => cluster.service.bank.dispute(reference, 'opened', amount));
    const { _id: id } = await disputeOf(cluster, reference, 'open');
    await cluster.isNotified(id, ['charge.disputed']);
    await has(cluster, available - AMOUNT_MINOR);
  },
});

/** A dispute is decided while a process dies: the amount returns once if it is won, and never if it is lost. */
const decided = (decision: 'won' | 'lost', deaths: readonly Death[]): Case => ({
  name: `a dispute of a charge that is ${decision}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { bank } = cluster.service;
    const { reference, available } = await paid(cluster);
    await bank.dispute(reference, 'opened', { amount_minor: AMOUNT_MINOR });
    await disputeOf(cluster, reference, 'open');
    await has(cluster, available - AMOUNT_MINOR);
    await cluster.dies(deaths, () => bank.dispute(reference, decision));
    const { _id: id } = await disputeOf(cluster, reference, decision);
    await cluster.isNotified(id, ['charge.disputed', `charge.dispute_${decision}`]);
    await has(cluster, decision === 'won' ? available : available - AMOUNT_MINOR);
  },
});

/** The process that receives a report from the desk reads no list of refunds, so a worker books it. */
const DESK_DEATHS: readonly (readonly Death[])[] = [
  [{ who: 'worker', point: 'commit.before' }],
  [{ who: 'worker', point: 'commit.after' }],
  afterReceiver('commit.after'),
];

/** The desk of the network refunds a payment while a process dies: it is one refund, which the wallet pays once. */
const atDesk = (deaths: readonly Death[]): Case => ({
  name: `a refund from the desk of the network: ${namesOf(deaths)}`,
  async run(cluster) {
    const { reference, available } = await paid(cluster);
    await cluster.dies(deaths, () => cluster.service.bank.refundAtDesk(reference, AMOUNT_MINOR));
    const refunds = cluster.service.deps.database.db.collection<Refund>('refunds');
    const made = await eventually('the refund is recorded', async () => {
      const found = await refunds.find({ charge_reference: reference }).toArray();
      return found.length > 0 ? found : undefined;
    });
    expect(made).toMatchObject([{ status: 'completed', made_by: 'provider' }]);
    await has(cluster, available - AMOUNT_MINOR);
    expect(await refunds.countDocuments({ charge_reference: reference })).toBe(1);
  },
});

export const takenBack: Case[] = BOOKING_DEATHS.flatMap((deaths) => [
  opened(deaths),
  decided('won', deaths),
  decided('lost', deaths),
]).concat(DESK_DEATHS.map(atDesk));
