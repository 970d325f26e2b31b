import { depositId } from '../../../src/capabilities/deposits/deposit.js';
import { eventually } from '../../support/eventually.js';
import { accountClient, accountCustomer } from '../../support/virtual-accounts.js';
import {
  casesOf,
  EVENT_DEATHS,
  namesOf,
  OUTCOMES,
  PAID,
  POINTS,
  UNANSWERED,
  VERIFY_POINTS,
  type Capability,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

const AMOUNT_MINOR = 250_000;

/** An account is opened as often as the outcome requires, with one number, and its event is sent once. */
async function isRight(cluster: Cluster, id: string, { status, times }: Outcome): Promise<void> {
  const accounts = accountClient(cluster.tenant);
  const account = await accounts.waitFor(id, status === 'completed' ? 'active' : 'failed');
  expect(account.account_number).toEqual(times === 0 ? null : expect.any(String));
  expect(await cluster.effects(id)).toEqual(Array.from({ length: times }, () => 'opened'));
  const event = status === 'completed' ? 'virtual_account.created' : 'virtual_account.failed';
  await cluster.isNotified(id, [event]);
}

const assignment: Omit<Capability, 'outcomes' | 'points'> = {
  name: 'a virtual account',
  newRequest: (_, { suffix }) => ({
    path: '/virtual-accounts',
    body: { customer_id: accountCustomer(suffix) },
  }),
  isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
};

/** Money arrives on an account while a process dies: it is credited once, and its event is sent once. */
const deposit = (deaths: readonly Death[]): Case => ({
  name: `a deposit: ${namesOf(deaths)}`,
  async run(cluster) {
    const { service, tenant } = cluster;
    const accounts = accountClient(tenant);
    const account = await accounts.active();
    await cluster.isQuiet();
    const order = { amount_minor: AMOUNT_MINOR, sender_name: 'Ada Obi' };
    const theirs = await cluster.dies(deaths, () =>
      service.bank.deposit(account.account_number, order),
    );
    const id = depositId('sandbox-bank', theirs);
    await eventually(`${id} is credited`, async () =>
      (await service.deps.deposits.store.find(id))?.state === 'credited' ? true : undefined,
    );
    const { total_received_minor: total } = await accounts.get(account.id);
    expect(total).toBe(AMOUNT_MINOR);
    await cluster.isNotified(id, ['virtual_account.credited']);
    await cluster.isQuiet();
  },
});

/** The points of a worker that confirms a deposit: it asks, and books the answer with an event. */
const CONFIRMATION_POINTS = [
  ...VERIFY_POINTS,
  'deposit.answered',
  'commit.before',
  'commit.after',
  'webhook.before',
  'webhook.after',
];

export const accountsAndDeposits: Case[] = [
  ...casesOf({ ...assignment, outcomes: OUTCOMES, points: POINTS }),
  // The number is committed before the workflow has the result.
  ...casesOf({
    ...assignment,
    outcomes: [PAID, UNANSWERED],
    points: { api: [], worker: ['account.answered'], unanswered: [], dispatcher: [] },
  }),
  ...EVENT_DEATHS.map(deposit),
  ...CONFIRMATION_POINTS.map((point) => deposit([{ who: 'worker', point }])),
];
