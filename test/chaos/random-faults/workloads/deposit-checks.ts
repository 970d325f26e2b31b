import type { Collection } from 'mongodb';
import { depositId, UNOWNED, type Deposit } from '../../../../src/capabilities/deposits/record.js';
import type { VirtualAccount } from '../../../../src/capabilities/virtual-accounts/record.js';
import { isolated } from '../common-checks.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';

/** Money that was sent to an account of a tenant. `id` is the bank's; null if the bank never answered. */
export type Paid = {
  of: ChaosTenant;
  account: string;
  suffix: string;
  amountMinor: bigint;
  id: string | null;
};

/** The ends of senders of whom the bank tells and has nothing, and whose money it takes back. */
export const NEVER_FOUND = '002';
export const REVERSED = '006';
/** The end of senders whose money goes to an account that nobody has. */
const TO_NOBODY = '009';

/** The record of a deposit; null if there is none yet. */
export const recordOf = async (stored: Collection<Deposit>, { id }: Pick<Paid, 'id'>) =>
  id === null ? null : stored.findOne({ _id: depositId('sandbox-bank', id) });

/**
 * Checks that each deposit has one record in a state that its money explains, that it is credited to its account unless
 * an operator has decided otherwise, and that its events were sent. The ledger audit has checked that each step is
 * booked once, and test/support that the bank still has what is booked.
 */
export async function checkDeposits(
  cluster: ChaosCluster,
  received: ReceivedWebhooks,
  paid: readonly Paid[],
): Promise<string[]> {
  const { db } = cluster.service.deps.database;
  const deposits = await db.collection<Deposit>('deposits').find().toArray();
  const accounts = await db.collection<VirtualAccount>('virtual_accounts').find().toArray();
  const byId = new Map(deposits.map((one) => [one._id, one]));
  const accountOf = new Map(accounts.map((one) => [one._id, one]));
  const paidIds = new Set(paid.map(({ id }) => id));
  const owned = deposits.filter(({ tenant_id: tenantId }) => tenantId !== UNOWNED);
  return [
    ...paid.flatMap((one) => {
      if (one.id === null) return [`the deposit on ${one.account} was never answered`];
      const record = byId.get(depositId('sandbox-bank', one.id));
      return record ? wrongEnd(one, record, accountOf) : [`${one.id} was never found`];
    }),
    ...deposits
      .filter(({ reference }) => !paidIds.has(reference))
      .map(({ _id }) => `${_id} is there, and was not paid`),
    ...deposits.flatMap(wrongRecord),
    ...deposits.flatMap(({ _id, moved_to: to }) =>
      to && !byId.has(to.id) ? [`${_id} was moved to ${to.id}, which is not there`] : [],
    ),
    ...received.wrong('virtual_account', owned.flatMap(asEmitted)),
    ...(await isolated(cluster, owned, {
      one: (id) => `/virtual-accounts/deposits/${id}`,
      list: '/virtual-accounts/deposits',
    })),
  ];
}

/** Money that is not credited and not given back waits for an operator. */
function wrongRecord({ _id: id, state, status, attention }: Deposit): string[] {
  const isOpen = state === 'received' || (state === 'suspended' && attention === null);
  return isOpen ? [`${id} is ${state} (${status}), and no operator is called`] : [];
}

/** The deposit against what was paid. `accountOf` has all accounts. */
function wrongEnd(
  { account: accountId, suffix, amountMinor }: Paid,
  { _id: id, state, ...deposit }: Deposit,
  accountOf: ReadonlyMap<string, VirtualAccount>,
): string[] {
  const is = (...wanted: Deposit['state'][]) =>
    wanted.includes(state) ? [] : [`${id} of the sender ${suffix} is ${state}`];
  if (suffix === NEVER_FOUND) return is('reversed');
  // An operator may have given it to another tenant.
  if (deposit.moved_to) return is('reversed');
  const isBooked = deposit.amount_minor === amountMinor;
  const wrongAmount = isBooked ? [] : [`${id} is of ${deposit.amount_minor}, not ${amountMinor}`];
  if (suffix === REVERSED) return is('reversed', 'returned');
  if (suffix === TO_NOBODY) {
    const isUnowned = deposit.tenant_id === UNOWNED;
    const wrongOwner = isUnowned ? [] : [`${id} of nobody belongs to ${deposit.tenant_id}`];
    return [...wrongAmount, ...wrongOwner, ...is('suspended', 'reversed', 'returned')];
  }
  const account = accountOf.get(accountId);
  const { amount_minor: expected, on_mismatch: onMismatch } = account ?? {};
  const isReturned = onMismatch === 'return' && expected !== amountMinor;
  if (account?.state !== 'active')
    return [...wrongAmount, ...is('credited', 'suspended', 'returned')];
  // The account was active all the time.
  if (isReturned) return [...wrongAmount, ...is('returned', 'suspended', 'credited')];
  const isOwn = deposit.virtual_account_id === accountId;
  const wrongAccount = isOwn ? [] : [`${id} is credited to ${deposit.virtual_account_id}`];
  return [...wrongAmount, ...wrongAccount, ...is('credited')];
}

const EVENT_OF: Partial<Record<Deposit['state'], string>> = {
  credited: 'credited',
  suspended: 'deposit_suspended',
  returned: 'deposit_suspended',
  reversed: 'deposit_reversed',
};

/** A deposit with the last word of its event. One that was reversed before it was booked has none. */
function asEmitted(deposit: Deposit): { _id: string; tenant_id: string; status: string }[] {
  const status = EVENT_OF[deposit.state];
  const isSilent = deposit.state === 'reversed' && deposit.match === null;
  const { _id, tenant_id } = deposit;
  return status === undefined || isSilent ? [] : [{ _id, tenant_id, status }];
}
