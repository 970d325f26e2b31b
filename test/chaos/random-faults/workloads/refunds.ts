import { setTimeout as sleep } from 'node:timers/promises';
import type { Refund } from '../../../../src/capabilities/refunds/record.js';
import { eventually } from '../../../support/eventually.js';
import type { ChargeView } from '../../../support/payments.js';
import type { Workload } from '../workload.js';
import { createRequests } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import { createPaymentOperators } from '../payment-operators.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { END, endOf } from './charge-ends.js';
import { chooseOf, pickRecent, setOnceThere } from './choosing.js';

type RefundBody = { charge_reference: string; reference: string; amount_minor?: number };

/**
 * Outcomes by the ends of references; see docs/guide/test-values.md. Left out are 005, because a request that is always lost needs an
 * operator, and 016: its list has the refund later than "not found" is conclusive in this run, so a lost answer would refund twice.
 */
const ENDS = [
  [20, '789'],
  [5, '001'],
  [5, '002'],
  [2, '004'],
  [2, '007'],
  [2, '009'],
  [2, '010'],
  [2, '006'],
  [3, '011'],
  [2, '012'],
  [2, '015'],
] as const;
/** The end of refunds whose money comes back after they were made. */
const RETURNED = '011';
/** The end of refunds that stay pending until the network is told the outcome, after this time. */
const PENDING = '006';
const PENDING_MS = [5_000, 25_000] as const;

/** `failed` may follow `completed`, because the money of a refund can come back. */
const ALLOWED_TRANSITIONS = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['failed'],
  failed: [],
};

/** Refunds of completed charges of the random-fault run: in part, in full, and several at once. */
export function createRefunds(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<RefundBody>(cluster, random, problems);
  const { db } = cluster.service.deps.database;
  const operators = createPaymentOperators(cluster);
  const counts = { outcomes_set: 0, accounts_named: 0 };
  let named = 0;

  /** A completed charge, from the tenant's own list. */
  async function completed(of: ChaosTenant): Promise<ChargeView | null> {
    const found = await get<ChargeView[]>(of, '/payments/charges?status=completed&limit=20');
    return found && found.length > 0 ? random.pick(found) : null;
  }

  async function refund(
    of: ChaosTenant,
    charge: ChargeView,
    suffix = chooseOf<string>(random, ENDS),
  ): Promise<void> {
    const reference = `refund-${process.pid}-${(named += 1)}-${suffix}`;
    // A third has no amount, and so refunds all that is left.
    const amount_minor = Math.ceil(charge.amount_minor * random.between(0.1, 0.6));
    const part = random.chance(0.67) && { amount_minor };
    const body = { charge_reference: charge.reference, reference, ...part };
    const path = '/payments/refunds';
    const { status } = await send({ of, path, body, key: `chaos ${reference}` });
    if (suffix === PENDING && status === 201) void decide(reference);
  }

  /** The network decides a pending refund, as soon as it has it. */
  async function decide(reference: string): Promise<void> {
    const outcome = random.chance(0.7) ? 'refunded' : 'failed';
    const { bank } = cluster.service;
    await sleep(random.between(...PENDING_MS));
    await setOnceThere(cluster, random, () => bank.setRefundOutcome(reference, outcome));
    counts.outcomes_set += 1;
  }

  async function check(received: ReceivedWebhooks): Promise<string[]> {
    const refunds = await db.collection<Refund>('refunds').find().toArray();
    const made = refunds.map((one) => ({ ...one, _id: one.reference }));
    const requested = made.filter(({ made_by: by }) => by === 'tenant');
    return [
      ...answersHold(sent, requested),
      ...received.wrong('refund', made.map(asEmitted)),
      ...refunds
        .filter(({ customer_account: account }) => account != null)
        .map(({ _id }) => `${_id} still has the account of its customer`),
      ...(await beyond()),
      ...(await isolated(cluster, made, { one: (reference) => `/payments/refunds/${reference}` })),
    ];
  }

  /** Charges of which the acquirer refunded more than it took, by its own journal. */
  async function beyond(): Promise<string[]> {
    const journal = await cluster.service.bank.journal();
    const left = new Map<string, number>();
    const add = (of: string, minor: number) => left.set(of, (left.get(of) ?? 0) + minor);
    for (const { kind, reference, charge = '', amount_minor: minor } of journal) {
      if (kind === 'charged') add(reference, minor);
      if (kind === 'refunded') add(charge, -minor);
      if (kind === 'refund_returned') add(charge, minor);
    }
    return [...left]
      .filter(([, minor]) => minor < 0)
      .map(([charge, minor]) => `${charge} was refunded ${-minor} beyond what was paid`);
  }

  const accepted = () => sent.filter(({ answer }) => answer?.status === 201);

  return {
    name: 'refunds',
    weight: 1.2,
    /** A refund whose money comes back, of a charge of the workload `charges`: a short run may have no other. */
    async prepare() {
      if ((await db.collection('charges').countDocuments()) === 0) return;
      await eventually('a refund before the random-fault run', async () => {
        for (const of of cluster.tenants) {
          const found = await get<ChargeView[]>(of, '/payments/charges?status=completed&limit=20');
          const plain = found?.find(({ reference }) => endOf(reference) === END.plain);
          if (plain) return refund(of, plain, RETURNED).then(() => true);
        }
        return undefined;
      });
    },
    async act() {
      if (random.chance(0.1)) {
        counts.accounts_named += await operators.nameAccounts().catch(() => 0);
        return;
      }
      const of = cluster.anyTenant(random);
      const charge = await completed(of);
      if (!charge) return;
      const atOnce = random.chance(0.25) ? 4 : 1;
      await Promise.all(Array.from({ length: atOnce }, () => refund(of, charge)));
    },
    async look() {
      if (accepted().length === 0) return;
      const { of, body } = pickRecent(random, accepted());
      const { reference: id } = body;
      await look({ of, path: `/payments/refunds/${id}`, id });
    },
    repeat,
    check,
    figures: () => ({
      requests: sent.length,
      refunds: accepted().length,
      ...counts,
      reads: reads(),
    }),
    problems,
  };
}

/** A refund whose money has come back may have been completed before. */
const asEmitted = (refund: Refund) => ({
  ...refund,
  endings: refund.status === 'failed' && refund.reversed_at !== null ? ['completed'] : [],
});
