import { setTimeout as sleep } from 'node:timers/promises';
import type { BillPayment } from '../../../../src/capabilities/bill-payments/record.js';
import { billPaymentBody } from '../../../support/bill-payments.js';
import type { Workload } from '../workload.js';
import { createRequests } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { chooseOf, pickRecent, setOnceThere } from './choosing.js';

/** Ends of customers' references. Requests that are always lost (005) need an operator. */
const PLAIN = [
  [8, '789'],
  [1, '001'],
  [1, '002'],
  [1, '008'],
  [1, '009'],
  [1, '010'],
  [1, '006'],
] as const;
/** Ends of customers whose bills stay pending until the biller is told the outcome. */
const PENDING = '006';
const PENDING_MS = [3_000, 15_000] as const;
const DOUBTFUL = [
  [3, '004'],
  [1, '007'],
] as const;

const ALLOWED_TRANSITIONS = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
};
/** Amounts differ, so that the checks detect swapped values. */
const AMOUNTS_MINOR = [60_000, 160_000] as const;

/** Bill payments of the random-fault run: prepaid meters, whose tokens must be there once the wallet has paid. */
export function createBillPayments(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<ReturnType<typeof billPaymentBody>>(
    cluster,
    random,
    problems,
  );
  const { db } = cluster.service.deps.database;

  /** Pays a pending bill, whenever the biller gets it. */
  async function decide(id: string): Promise<void> {
    await sleep(random.between(...PENDING_MS));
    await setOnceThere(cluster, random, () => cluster.service.bank.setBillOutcome(id, 'paid'));
  }

  async function check(received: ReceivedWebhooks): Promise<string[]> {
    const payments = await db.collection<BillPayment>('bill_payments').find().toArray();
    const withoutToken = payments.filter(
      ({ status, receipt }) => status === 'completed' && !receipt?.sealed_token,
    );
    return [
      ...answersHold(sent, payments),
      ...received.wrong('bill_payment', payments.map(asEmitted)),
      ...withoutToken.map(({ _id }) => `${_id} is completed without its token`),
      ...(await isolated(cluster, payments, {
        one: (id) => `/billpay/payments/${id}`,
        list: '/billpay/payments',
      })),
    ];
  }

  const accepted = () => sent.filter(({ answer }) => answer?.status === 201);

  return {
    name: 'bill-payments',
    weight: 4,
    async act() {
      const of = cluster.anyTenant(random);
      const suffix = chooseOf<string>(random, random.chance(0.2) ? DOUBTFUL : PLAIN);
      const body = billPaymentBody(suffix, {
        amount_minor: Math.round(random.between(...AMOUNTS_MINOR)),
      });
      const key = `chaos ${body.reference}`;
      const { id } = await send({ of, path: '/billpay/payments', body, key });
      if (suffix === PENDING && id !== null) void decide(id);
    },
    async look() {
      if (accepted().length === 0) return;
      const { of, answer } = pickRecent(random, accepted());
      const id = String(answer?.id);
      await look({ of, path: `/billpay/payments/${id}`, id });
    },
    repeat,
    check,
    figures: () => ({ requests: sent.length, bills: accepted().length, reads: reads() }),
    problems,
  };
}

/** A reversed payment as its tenant saw it: it may have been completed before. */
const asEmitted = (payment: BillPayment) =>
  payment.reversed_at === null
    ? payment
    : { ...payment, status: 'reversed', endings: ['completed'] };
