import { setTimeout as sleep } from 'node:timers/promises';
import type { VirtualAccount } from '../../../../src/capabilities/virtual-accounts/record.js';
import { accountCustomer, type AccountView } from '../../../support/virtual-accounts.js';
import { answersHold, isolated } from '../common-checks.js';
import type { ChaosCluster } from '../cluster.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { createRequests, type SentRequest } from '../requests.js';
import type { Workload } from '../workload.js';
import { chooseOf, pickRecent, untilDone } from './choosing.js';

/** Ends of customers' ids; see docs/guide/test-values.md. A closing of the last kind is never answered. */
const CUSTOMERS = [
  [10, '789'],
  [2, '001'],
  [1, '002'],
  [2, '004'],
  [1, '006'],
  [1, '007'],
  [1, '010'],
  [2, '016'],
] as const;
/** The end of customers whose accounts stay pending until the network is told the outcome. */
const PENDING = '006';
const PENDING_MS = [2_000, 8_000] as const;
/** The end of customers who get no account. */
const REFUSED = '002';

const ALLOWED_TRANSITIONS = {
  pending: ['active', 'failed'],
  active: ['closing', 'closed'],
  closing: ['closed'],
  closed: [],
  failed: [],
};

/** The amount that each deposit on some accounts must have. */
export const EXPECTED_MINOR = 300_000;

type Body = {
  reference: string;
  customer_id: string;
  expected_amount_minor?: number;
  on_mismatch?: 'return';
};

/** Virtual accounts of the random-fault run, each of a new customer, and their closings. See deposits.ts for the money. */
export function createVirtualAccounts(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const openings = createRequests<Body>(cluster, random, problems);
  const closings = createRequests(cluster, random, problems);
  const { service } = cluster;
  const accepted = () => openings.sent.filter(({ answer }) => answer?.status === 201);

  /** Opens a pending account, whenever the network gets its request. */
  async function decide(id: string): Promise<void> {
    await sleep(random.between(...PENDING_MS));
    await untilDone(cluster, random, async () => {
      const status = await service.bank.setAccountOutcome(id, 'opened');
      return status === 404 ? null : status;
    });
  }

  async function open(): Promise<void> {
    const of = cluster.anyTenant(random);
    const suffix = chooseOf<string>(random, CUSTOMERS);
    const customer = accountCustomer(suffix);
    const strict = { expected_amount_minor: EXPECTED_MINOR, on_mismatch: 'return' as const };
    const body = {
      reference: `account-${customer}`,
      customer_id: customer,
      ...(random.chance(0.3) && strict),
    };
    const path = '/virtual-accounts';
    const { id } = await openings.send({ of, path, body, key: `chaos ${body.reference}` });
    if (suffix === PENDING && id !== null) void decide(id);
  }

  /** Closes one of a tenant's accounts, perhaps for the second time. */
  async function close(): Promise<void> {
    const of = cluster.anyTenant(random);
    const found = await get<AccountView[]>(of, '/virtual-accounts?status=active&limit=20');
    if (!found || found.length === 0) return open();
    const { id } = random.pick(found);
    const key = `chaos close ${closings.sent.length}`;
    await closings.send({ of, path: `/virtual-accounts/${id}/close`, body: {}, key });
  }

  async function check(received: ReceivedWebhooks): Promise<string[]> {
    const accounts = await service.deps.database.db
      .collection<VirtualAccount>('virtual_accounts')
      .find()
      .toArray();
    // Customers differ in their outcomes only.
    const sent = openings.sent.map((one) => ({ ...one, body: { reference: one.body.reference } }));
    return [
      ...answersHold(
        sent,
        accounts.map(({ _id, tenant_id, reference }) => ({ _id, tenant_id, reference })),
      ),
      ...accounts.flatMap(wrongEnd),
      ...closings.sent.flatMap((one) => wrongClosing(one, accounts)),
      ...received.wrong('virtual_account', accounts.map(asEmitted)),
      ...(await isolated(cluster, accounts, {
        one: (id) => `/virtual-accounts/${id}`,
        list: '/virtual-accounts',
        posts: (id) => [[`/virtual-accounts/${id}/close`, {}]],
      })),
    ];
  }

  return {
    name: 'virtual-accounts',
    weight: 1.6,
    act: () => (random.chance(0.2) ? close() : open()),
    async look() {
      if (accepted().length === 0) return;
      const { of, answer } = pickRecent(random, accepted());
      const id = String(answer?.id);
      await look({ of, path: `/virtual-accounts/${id}`, id });
    },
    repeat: async () => (await openings.repeat()) + (await closings.repeat()),
    check,
    figures: () => ({
      requests: openings.sent.length,
      accounts: accepted().length,
      closings: closings.sent.length,
      reads: reads(),
    }),
    problems,
  };
}

/** An account has failed exactly if the network refuses its customer, and an account that is over waits for no operator. */
function wrongEnd({ _id: id, state, customer_id: customer, attention }: VirtualAccount): string[] {
  const isRefused = customer.endsWith(REFUSED);
  return [
    ...(isRefused === (state === 'failed') ? [] : [`${id} of ${customer} is ${state}`]),
    ...(attention ? [`${id} waits for an operator: ${attention.reason}`] : []),
  ];
}

/** An account whose closing was accepted is closed. Every closing is accepted: an account that is closed stays as it is. */
function wrongClosing(
  { path, answer }: SentRequest,
  accounts: readonly VirtualAccount[],
): string[] {
  const id = path.split('/').at(-2);
  if (answer?.status !== 201) return [`${path} was answered ${answer?.text}`];
  const state = accounts.find(({ _id }) => _id === id)?.state;
  return state === 'closed' ? [] : [`${id} was to be closed, and is ${state}`];
}

/** An account as its tenant saw it: the event of an active account says that it was created. */
const asEmitted = (account: VirtualAccount) => ({
  ...account,
  status: account.state === 'active' ? 'created' : account.state,
});
