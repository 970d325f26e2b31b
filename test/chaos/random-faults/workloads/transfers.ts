import { setTimeout as sleep } from 'node:timers/promises';
import type { Transfer } from '../../../../src/capabilities/transfers/record.js';
import { transferBody } from '../../../support/tenant.js';
import type { Workload } from '../workload.js';
import { createRequests } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { chooseOf, setOnceThere } from './choosing.js';

/**
 * Ends of account numbers. The bank pays most at once; for a fifth its answer leaves the outcome unknown. Requests that
 * are always lost (005) need an operator, so only the bank's random faults lose requests.
 */
const PLAIN = [
  [12, '789'],
  [1, '001'],
  [1, '002'],
  [1, '008'],
  [1, '009'],
  [1, '010'],
  [1, '011'],
  [1, '006'],
  [1, '023'],
] as const;
/** Ends of accounts whose transfers stay pending until the bank is told the outcome. */
const PENDING = '006';
/** End of accounts whose transfers are paid and then reversed, without a message. */
const REVERSED_UNTOLD = '023';
/** A transfer is pending for long enough that a fail-over of the bank hides it from several polls. */
const PENDING_MS = [5_000, 25_000] as const;
/** The outcome is set again after this, so that a second execution of a transfer would be paid too. */
const AGAIN_AFTER_MS = 15_000;
// Accounts with three errors take as long as many accounts without an answer.
const DOUBTFUL = [
  [5, '004'],
  [1, '007'],
] as const;

const ALLOWED_TRANSITIONS = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
};
/** Amounts and accounts differ, so that the checks detect swapped values. */
const AMOUNTS_MINOR = [100_000, 200_000] as const;

export function createTransfers(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<ReturnType<typeof transferBody>>(
    cluster,
    random,
    problems,
  );
  const { db } = cluster.service.deps.database;
  let decided = 0;

  /** Pays a pending transfer at the bank, whenever the bank gets it. */
  async function decide(id: string): Promise<void> {
    const pay = () => cluster.service.bank.setTransferOutcome(id, 'paid');
    await sleep(random.between(...PENDING_MS));
    await setOnceThere(cluster, random, pay);
    decided += 1;
    await sleep(AGAIN_AFTER_MS);
    await setOnceThere(cluster, random, pay);
  }

  async function check(received: ReceivedWebhooks): Promise<string[]> {
    const transfers = await db.collection<Transfer>('transfers').find().toArray();
    return [
      ...answersHold(sent, transfers),
      ...received.wrong('transfer', transfers.map(asEmitted)),
      ...(await isolated(cluster, transfers, {
        one: (id) => `/transfers/${id}`,
        list: '/transfers',
      })),
    ];
  }

  return {
    name: 'transfers',
    weight: 22,
    async act() {
      const of = cluster.anyTenant(random);
      const suffix = chooseOf<string>(random, random.chance(0.2) ? DOUBTFUL : PLAIN);
      const body = transferBody(suffix, {
        amount_minor: Math.round(random.between(...AMOUNTS_MINOR)),
        recipient_account: `012345${Math.floor(random.next() * 10)}${suffix}`,
      });
      const key = `chaos ${body.reference}`;
      const { id } = await send({ of, path: '/transfers', body, key });
      if (suffix === PENDING && id !== null) void decide(id);
      if (suffix === REVERSED_UNTOLD && id !== null) cluster.reversedUntold.push(id);
    },
    async look() {
      const known = sent.filter(({ answer }) => answer?.id);
      if (known.length === 0) return;
      // Prefers recent transfers, which are more likely to be open.
      const { of, answer } = random.pick(random.chance(0.8) ? known.slice(-200) : known);
      const id = String(answer?.id);
      await look({ of, path: `/transfers/${id}`, id });
    },
    repeat,
    check,
    figures: () => ({
      requests: sent.length,
      transfers: sent.filter(({ answer }) => answer?.status === 201).length,
      insufficient: sent.filter(({ answer }) => answer?.code === 'insufficient_balance').length,
      pending_paid: decided,
      reversed_untold: cluster.reversedUntold.length,
      reads: reads(),
    }),
    problems,
  };
}

/** A reversed transfer as its tenant saw it: it may have been completed before. */
const asEmitted = (transfer: Transfer) =>
  transfer.reversed_at === null
    ? transfer
    : { ...transfer, status: 'reversed', endings: ['completed'] };
