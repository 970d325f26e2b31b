import {
  depositId,
  movedDepositId,
  type Deposit,
} from '../../../src/capabilities/deposits/record.js';
import { eventually } from '../../support/eventually.js';
import {
  accountClient,
  accountCustomer,
  suspendedDeposit,
} from '../../support/virtual-accounts.js';
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

/** An account is closed while the worker dies: money that only a requery shows is booked once, and the account is closed. */
const closedAccount = (point: string): Case => ({
  name: `a virtual account's closing, with a deposit that only a requery shows: the worker dies at ${point}`,
  async run(cluster) {
    const { service, tenant } = cluster;
    const accounts = accountClient(tenant);
    const account = await accounts.active();
    await cluster.isQuiet();
    const order = { amount_minor: AMOUNT_MINOR, sender_name: 'Ada 003' };
    const theirs = await service.bank.deposit(account.account_number, order);
    await cluster.dies([{ who: 'worker', point }], () =>
      accounts.call('POST', `/virtual-accounts/${account.id}/close`),
    );
    await accounts.waitFor(account.id, 'closed');
    const id = depositId('sandbox-bank', theirs);
    const found = await eventually(`${id} is booked`, async () => {
      const deposit = await service.deps.deposits.store.find(id);
      return deposit && deposit.state !== 'received' ? deposit : undefined;
    });
    expect(['credited', 'suspended']).toContain(found.state);
    if (found.state === 'suspended') await sendBack(cluster, found);
    await cluster.isQuiet();
  },
});

/** Another tenant gets a deposit in suspense while the worker dies between the two commits: it is credited once, and there alone. */
const movedDeposit = (point: string): Case => ({
  name: `a deposit that an operator moves to another tenant: the worker dies at ${point}`,
  async run(cluster) {
    const { service } = cluster;
    const { store, starter } = service.deps.deposits;
    const owner = await service.tenant({ balanceMinor: 0 });
    const accounts = accountClient(owner);
    const account = await accounts.active();
    const deposit = await suspendedDeposit(cluster, AMOUNT_MINOR);
    const id = movedDepositId(deposit._id);
    const to = { id, tenant_id: owner.id, virtual_account_id: account.id };
    await cluster.dies([{ who: 'worker', point }], async () => {
      const by = { via: 'operator', actor: null, providerRequestId: null, note: null } as const;
      const moved = { ...by, instruction: 'confirm', kind: 'moved', to } as const;
      const result = await store.applyFact(deposit, moved);
      if (result.kind === 'fact') starter.startSoon(result.deposit);
    });
    await eventually(`${id} is credited`, async () =>
      (await store.find(id))?.state === 'credited' ? true : undefined,
    );
    expect((await accounts.get(account.id)).total_received_minor).toBe(AMOUNT_MINOR);
    await eventually(`${deposit._id} has ended`, async () =>
      (await store.find(deposit._id))?.status === 'completed' ? true : undefined,
    );
    expect(await store.find(deposit._id)).toMatchObject({ state: 'reversed', moved_to: to });
    await cluster.isQuiet();
  },
});

/** An operator returns a deposit in suspense while the worker dies: its sender gets it once. */
const returnedDeposit = (point: string): Case => ({
  name: `a deposit that an operator returns: the worker dies at ${point}`,
  async run(cluster) {
    const deposit = await suspendedDeposit(cluster, AMOUNT_MINOR);
    await cluster.dies([{ who: 'worker', point }], () => orderReturn(cluster, deposit));
    await isReturned(cluster, deposit);
    expect(await cluster.effects(deposit.reference)).toEqual(['received', 'deposit_returned']);
    await cluster.isQuiet();
  },
});

/** An operator sends a deposit in suspense back, so that nothing is left open. */
async function sendBack(cluster: Cluster, deposit: Deposit): Promise<void> {
  await orderReturn(cluster, deposit);
  await isReturned(cluster, deposit);
}

async function orderReturn({ service }: Cluster, deposit: Deposit): Promise<void> {
  const { store, starter } = service.deps.deposits;
  const by = { via: 'operator', actor: null, providerRequestId: null, note: null } as const;
  const ordered = { ...by, instruction: 'return', kind: 'return_ordered' } as const;
  const result = await store.applyFact(deposit, ordered);
  if (result.kind === 'fact') starter.startSoon(result.deposit);
}

const isReturned = ({ service }: Cluster, { _id: id }: Deposit) =>
  eventually(`${id} is returned`, async () =>
    (await service.deps.deposits.store.find(id))?.state === 'returned' ? true : undefined,
  );

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
  ...['closing.requeried', 'submit.answered'].map(closedAccount),
  ...['verify.before', 'commit.before', 'commit.after'].map(movedDeposit),
  ...['submit.permitted', 'submit.answered', 'commit.before', 'commit.after'].map(returnedDeposit),
];
