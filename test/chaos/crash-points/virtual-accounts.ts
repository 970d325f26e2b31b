import { randomUUID } from 'node:crypto';
import {
  depositId,
  movedDepositId,
  type Deposit,
  type DepositState,
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

/** An assignment that an event alone reports: the API dies with the event, or after it the worker too. */
const assignedByEvent = (deaths: readonly Death[]): Case => ({
  name: `a virtual account, reported by an event: ${namesOf(deaths)}`,
  async run(cluster) {
    const accounts = accountClient(cluster.tenant);
    const [customer_id, key] = [accountCustomer('001'), randomUUID()];
    const open = () => accounts.create({ customer_id }, { key });
    // The event may be faster than the answer, which is lost then.
    const first = await cluster.dies(deaths, () => open().catch(() => null));
    const { id } = (first ?? (await open())).body.data;
    await isRight(cluster, id, PAID);
    await cluster.isQuiet();
  },
});

/** The closing of an active account. The provider of the second outcome closes it and never answers. */
const closing: Omit<Capability, 'outcomes' | 'points'> = {
  name: 'the closing of a virtual account',
  async newRequest(cluster, { suffix }) {
    const { id } = await accountClient(cluster.tenant).active(suffix);
    await cluster.isQuiet();
    return { path: `/virtual-accounts/${id}/close`, body: {} };
  },
  async isRight(cluster, { id }) {
    await accountClient(cluster.tenant).waitFor(id, 'closed');
    await cluster.isNotified(id, ['virtual_account.closed', 'virtual_account.created']);
  },
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
    await isState(cluster, id, 'credited');
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

/** An account is closed while the worker dies: money that only a requery shows is credited, and the account is closed. */
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
    // The money arrived before the closing, so it is not late.
    await isState(cluster, id, 'credited');
    await cluster.isQuiet();
  },
});

/** The bank takes a credited deposit back, and an event reports it while a process dies: the wallet is debited once. */
const reversedDeposit = (deaths: readonly Death[]): Case => ({
  name: `a credited deposit that is taken back: ${namesOf(deaths)}`,
  async run(cluster) {
    const { service, tenant } = cluster;
    const accounts = accountClient(tenant);
    const account = await accounts.active();
    const order = { amount_minor: AMOUNT_MINOR, sender_name: 'Ada Obi' };
    const before = await tenant.balance();
    const theirs = await service.bank.deposit(account.account_number, order);
    const id = depositId('sandbox-bank', theirs);
    await isState(cluster, id, 'credited');
    await cluster.isQuiet();
    await cluster.dies(deaths, () => service.bank.reverseDeposit(theirs));
    await isState(cluster, id, 'reversed');
    expect((await accounts.get(account.id)).total_received_minor).toBe(0);
    expect(await tenant.balance()).toEqual(before);
    await cluster.isNotified(id, ['virtual_account.credited', 'virtual_account.deposit_reversed']);
    await cluster.isQuiet();
  },
});

/** A deposit of another amount than expected is returned by itself while the worker dies: its sender gets it once. */
const mismatchedDeposit = (point: string): Case => ({
  name: `a deposit of another amount than expected: the worker dies at ${point}`,
  async run(cluster) {
    const expected = { expected_amount_minor: AMOUNT_MINOR + 1, on_mismatch: 'return' };
    const account = await accountClient(cluster.tenant).active('789', expected);
    await cluster.isQuiet();
    const order = { amount_minor: AMOUNT_MINOR, sender_name: 'Ada Obi' };
    const theirs = await cluster.dies([{ who: 'worker', point }], () =>
      cluster.service.bank.deposit(account.account_number, order),
    );
    await isState(cluster, depositId('sandbox-bank', theirs), 'returned');
    expect(await cluster.effects(theirs)).toEqual(['received', 'deposit_returned']);
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
    await isState(cluster, id, 'credited');
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
    await isState(cluster, deposit._id, 'returned');
    expect(await cluster.effects(deposit.reference)).toEqual(['received', 'deposit_returned']);
    await cluster.isQuiet();
  },
});

async function orderReturn({ service }: Cluster, deposit: Deposit): Promise<void> {
  const { store, starter } = service.deps.deposits;
  const by = { via: 'operator', actor: null, providerRequestId: null, note: null } as const;
  const ordered = { ...by, instruction: 'return', kind: 'return_ordered' } as const;
  const result = await store.applyFact(deposit, ordered);
  if (result.kind === 'fact') starter.startSoon(result.deposit);
}

const isState = ({ service }: Cluster, id: string, wanted: DepositState) =>
  eventually(`${id} is ${wanted}`, async () =>
    (await service.deps.deposits.store.find(id))?.state === wanted ? true : undefined,
  );

export const accountsAndDeposits: Case[] = [
  ...casesOf({ ...assignment, outcomes: OUTCOMES, points: POINTS }),
  // The number is committed before the workflow has the result.
  ...casesOf({
    ...assignment,
    outcomes: [PAID, UNANSWERED],
    points: { api: [], worker: ['account.answered'], unanswered: [], dispatcher: [] },
  }),
  ...EVENT_DEATHS.map(assignedByEvent),
  ...casesOf({ ...closing, outcomes: [PAID], points: POINTS }),
  ...casesOf({
    ...closing,
    outcomes: [{ ...UNANSWERED, suffix: '016' }],
    points: { api: [], worker: [], unanswered: VERIFY_POINTS, dispatcher: [] },
  }),
  ...EVENT_DEATHS.map(deposit),
  ...EVENT_DEATHS.map(reversedDeposit),
  ...CONFIRMATION_POINTS.map((point) => deposit([{ who: 'worker', point }])),
  ...['closing.requeried', 'submit.answered'].map(closedAccount),
  ...['verify.before', 'commit.before', 'commit.after'].map(movedDeposit),
  ...['submit.permitted', 'submit.answered', 'commit.before', 'commit.after'].map(returnedDeposit),
  // The confirmation suspends the deposit, and starts its return.
  ...['commit.after', 'start.before', 'submit.permitted', 'submit.answered'].map(mismatchedDeposit),
];
