import { setTimeout as sleep } from 'node:timers/promises';
import type { Deposit } from '../../../../src/capabilities/deposits/record.js';
import type { AccountView } from '../../../support/virtual-accounts.js';
import type { ChaosCluster } from '../cluster.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import { createSuspense } from '../suspense.js';
import type { Workload } from '../workload.js';
import { chooseOf, pickRecent, untilDone } from './choosing.js';
import { checkDeposits, NEVER_FOUND, recordOf, REVERSED, type Paid } from './deposit-checks.js';
import { EXPECTED_MINOR } from './virtual-accounts.js';

/** Ends of senders' names; see docs/guide/test-values.md. */
const SENDERS = [
  [14, '789'],
  [1, '001'],
  [0.3, NEVER_FOUND],
  [1, '003'],
  [1, '004'],
  [2, REVERSED],
  [1, '007'],
  [0.5, '008'],
  [1, '009'],
  [1, '010'],
  [1, '012'],
  [1, '013'],
] as const;

const ALLOWED_TRANSITIONS = {
  received: ['credited', 'suspended', 'reversed'],
  credited: ['reversed'],
  suspended: ['credited', 'returned', 'reversed'],
  returned: [],
  reversed: [],
};
/** Amounts differ, so that the checks detect swapped values. */
const AMOUNTS_MINOR = [100_000, 400_000] as const;
/** Deposits that nobody reports are found by the search, at the pauses of cluster.ts. */
const FOUND_WITHIN_MS = 240_000;

/** Deposits of the random-fault run on the accounts of virtual-accounts.ts, and operators who decide about suspense. */
export function createDeposits(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { bank, deps } = cluster.service;
  const suspense = createSuspense(cluster);
  const stored = deps.database.db.collection<Deposit>('deposits');
  const paid: Paid[] = [];
  const counts = { assigned: 0, returned: 0 };

  /** Money arrives. The session is the sender's name for it, so a repeat of a lost answer is the same deposit. */
  async function pay(): Promise<void> {
    const of = cluster.anyTenant(random);
    const found = await get<AccountView[]>(of, '/virtual-accounts?status=active&limit=20');
    if (!found || found.length === 0) return;
    const { id: account, account_number: number } = random.pick(found);
    const suffix = chooseOf<string>(random, SENDERS);
    const session = `chaos-${process.pid}-${paid.length}`;
    const exact = random.chance(0.3);
    const order = {
      amount_minor: exact ? EXPECTED_MINOR : Math.round(random.between(...AMOUNTS_MINOR)),
      sender_name: `Sender ${paid.length} ${suffix}`,
      session_id: session,
      times: random.chance(0.2) ? 3 : 1,
      ...(random.chance(0.1) && { tell: 'nobody' as const }),
    };
    const made: Paid = { of, account, suffix, amountMinor: BigInt(order.amount_minor), id: null };
    paid.push(made);
    const deposit = async () => (await bank.deposit(String(number), order)) ?? null;
    made.id = await untilDone(cluster, random, deposit);
  }

  /** An operator gives money in suspense to an account, or sends it back. The decision may come too late. */
  async function decide(): Promise<void> {
    const waiting = await suspense.undecided();
    if (waiting.length === 0) return;
    const deposit = random.pick(waiting);
    if (random.chance(0.5)) counts.returned += Number(await suspense.sendBack(deposit));
    else counts.assigned += Number(await suspense.assign(deposit));
  }

  /** True if the deposit is here, and if it has been reversed in case the bank reverses it. */
  async function isHere(one: Paid): Promise<boolean> {
    const record = await recordOf(stored, one);
    const isOver = record && ['reversed', 'returned'].includes(record.state);
    if (one.suffix === REVERSED) return Boolean(isOver);
    return record !== null;
  }

  return {
    name: 'deposits',
    weight: 4,
    act: () => (random.chance(0.15) ? decide().catch(() => undefined) : pay()),
    async look() {
      const known = paid.filter(({ id }) => id !== null);
      if (known.length === 0) return;
      const one = pickRecent(random, known);
      const record = await recordOf(stored, one).catch(() => null);
      if (!record || record.tenant_id !== one.of.tenant.id) return;
      const id = record._id;
      await look({ of: one.of, path: `/virtual-accounts/deposits/${id}`, id });
    },
    async settle() {
      const until = performance.now() + FOUND_WITHIN_MS;
      for (const one of paid) {
        while (one.id !== null && performance.now() < until && !(await isHere(one))) {
          await sleep(500);
        }
      }
    },
    check: (received) => checkDeposits(cluster, received, paid),
    figures: () => ({ deposits: paid.length, ...counts, reads: reads() }),
    problems,
  };
}
