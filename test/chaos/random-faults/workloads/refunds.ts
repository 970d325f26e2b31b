import type { Refund } from '../../../../src/capabilities/refunds/record.js';
import type { ChargeView } from '../../../support/payments.js';
import type { Workload } from '../workload.js';
import { createRequests } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { pickRecent } from './choosing.js';

type RefundBody = { charge_reference: string; reference: string; amount_minor?: number };

/** Outcomes by the ends of references; see docs/guide/test-values.md. */
const PLAIN = ['789', '789', '789', '789', '001', '002'] as const;
const DOUBTFUL = ['004', '007', '009', '010'] as const;

const ALLOWED_TRANSITIONS = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
};

/** Refunds of completed charges of the random-fault run: in part, in full, and several at once. */
export function createRefunds(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<RefundBody>(cluster, random, problems);
  const { db } = cluster.service.deps.database;
  let named = 0;

  /** A completed charge, from the tenant's own list. */
  async function completed(of: ChaosTenant): Promise<ChargeView | null> {
    const found = await get<ChargeView[]>(of, '/payments/charges?status=completed&limit=20');
    return found && found.length > 0 ? random.pick(found) : null;
  }

  async function refund(of: ChaosTenant, charge: ChargeView): Promise<void> {
    const suffix = random.pick(random.chance(0.2) ? DOUBTFUL : PLAIN);
    const reference = `refund-${process.pid}-${(named += 1)}-${suffix}`;
    // A third has no amount, and so refunds all that is left.
    const amount_minor = Math.ceil(charge.amount_minor * random.between(0.1, 0.6));
    const part = random.chance(0.67) && { amount_minor };
    const body = { charge_reference: charge.reference, reference, ...part };
    await send({ of, path: '/payments/refunds', body, key: `chaos ${reference}` });
  }

  async function check(received: ReceivedWebhooks): Promise<string[]> {
    const refunds = await db.collection<Refund>('refunds').find().toArray();
    const made = refunds.map((one) => ({ ...one, _id: one.reference }));
    return [
      ...answersHold(sent, made),
      ...received.wrong('refund', made),
      ...(await beyond()),
      ...(await isolated(cluster, made, { one: (reference) => `/payments/refunds/${reference}` })),
    ];
  }

  /** Charges of which the acquirer refunded more than it took, by its own journal. */
  async function beyond(): Promise<string[]> {
    const refunds = await db.collection<Refund>('refunds').find().toArray();
    const paidAs = new Map(
      refunds.map(({ _id, provider_charge_reference }) => [_id, provider_charge_reference]),
    );
    const journal = await cluster.service.bank.journal();
    const left = new Map<string, number>();
    for (const { kind, reference, amount_minor: minor } of journal) {
      if (kind === 'charged') left.set(reference, minor);
      const charge = kind === 'refunded' ? String(paidAs.get(reference)) : null;
      if (charge !== null) left.set(charge, (left.get(charge) ?? 0) - minor);
    }
    return [...left]
      .filter(([, minor]) => minor < 0)
      .map(([charge, minor]) => `${charge} was refunded ${-minor} beyond what was paid`);
  }

  const accepted = () => sent.filter(({ answer }) => answer?.status === 201);

  return {
    name: 'refunds',
    weight: 1.2,
    async act() {
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
    figures: () => ({ requests: sent.length, refunds: accepted().length, reads: reads() }),
    problems,
  };
}
