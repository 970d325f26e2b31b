import type { z } from 'zod';
import type { CardAuthorization } from '../../../../src/capabilities/card-authorizations/record.js';
import type { cardAuthorizationResource } from '../../../../src/capabilities/card-authorizations/schema.js';
import { isCounted, type CardDispute } from '../../../../src/capabilities/card-disputes/record.js';
import type { CardView } from '../../../support/cards.js';
import { eventually } from '../../../support/eventually.js';
import { issuerClient } from '../../../support/issuer.js';
import type { Workload } from '../workload.js';
import { createRequests } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { chooseOf, pickRecent, untilDone } from './choosing.js';

type DisputeBody = {
  reason: string;
  explanation: string;
  transaction_reference: string;
  amount_minor?: number;
};
/** `decided`: the issuer won or lost it, so that a cancellation is refused. */
type Fate = 'won' | 'lost' | 'cancelled' | 'open' | 'decided';
type Raised = { of: ChaosTenant; id: string; reference: string; fate: Fate };
type PaymentView = z.infer<typeof cardAuthorizationResource>;

/** Outcomes by the ends of references; see docs/guide/test-values.md. The last three take a course by themselves. */
const PLAIN = ['789', '789', '789', '789', '001', '002', '015', '021', '022'] as const;
const DOUBTFUL = ['004', '007', '009', '010'] as const;
const COURSES = /-02[12]$/;
const NOT_WITHDRAWABLE = /-015$/;
/** Decided before the run: a short one on a slow machine would be over before the first payment is cleared. */
const DECIDED_AT_FIRST = 3;
/** Disputes of less are not credited: a credit that is repeated after a lost answer may exceed them, which calls an operator. */
const LEAST_CREDITED_MINOR = 500;

const ALLOWED_TRANSITIONS = {
  pending: ['open', 'won', 'lost', 'cancelled', 'failed'],
  open: ['won', 'lost', 'cancelled'],
  won: [],
  lost: [],
  cancelled: [],
  // The issuer may have it after an operator has failed it.
  failed: ['open', 'won', 'lost', 'cancelled'],
};

/** Disputes of the card payments of the random-fault run, which the issuer credits, wins, loses or withdraws. */
export function createCardDisputes(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<DisputeBody>(cluster, random, problems);
  /** Disputes whose fate is still to come. */
  const waiting: Raised[] = [];
  const counts = { paid: 0, credited: 0, decided: 0, cancelled: 0 };
  const issuer = issuerClient(cluster.service);
  let named = 0;

  /** A payment that has taken money, from the tenant's own list. */
  async function taken(of: ChaosTenant): Promise<PaymentView | null> {
    const listed = '/cards/authorizations?status=cleared&limit=50';
    const found = (await get<PaymentView[]>(of, listed)) ?? [];
    const left = found.filter((one) => one.cleared_minor > one.refunded_minor + one.disputed_minor);
    return left.length > 0 ? random.pick(left) : null;
  }

  /** Pays with a card of the tenant, and has the payment cleared. */
  async function pay(of: ChaosTenant): Promise<void> {
    const cards = (await get<CardView[]>(of, '/cards?limit=20')) ?? [];
    const active = cards.filter(({ status }) => status === 'active');
    if (active.length === 0) return;
    const amount_minor = Math.round(random.between(500, 3_000));
    const decision = await issuer.pay(random.pick(active).id, { amount_minor }).catch(() => null);
    if (!decision?.approved) return;
    const status = await untilDone(cluster, random, async () => {
      const answered = await issuer.end(decision.token, 'cleared');
      return answered >= 500 ? null : answered;
    });
    if (status === 200) counts.paid += 1;
  }

  async function raise(of: ChaosTenant, payment: PaymentView): Promise<void> {
    const suffix = random.pick(random.chance(0.2) ? DOUBTFUL : PLAIN);
    const reference = `dispute-${process.pid}-${(named += 1)}-${suffix}`;
    // A third has no amount, and so disputes all that is left.
    const amount_minor = Math.ceil(payment.cleared_minor * random.between(0.2, 0.8));
    const words = { reason: 'not_received', explanation: 'The order has not come.' };
    const part = random.chance(0.67) && { amount_minor };
    const body = { ...words, transaction_reference: reference, ...part };
    const path = `/cards/authorizations/${payment.id}/disputes`;
    const { id } = await send({ of, path, body, key: `chaos ${reference}` });
    if (id === null || COURSES.test(reference)) return;
    const fate = chooseOf<Fate>(random, [
      [30, 'won'],
      [30, 'lost'],
      [25, 'cancelled'],
      [5, 'decided'],
      [10, 'open'],
    ]);
    waiting.push({ of, id, reference, fate });
  }

  /** The issuer moves money of a dispute, or decides it. A repeat after a lost answer is a second report. */
  async function setAtIssuer(
    reference: string,
    outcome: 'credited' | 'credit_reversed' | 'won' | 'lost',
    amountMinor?: number,
  ): Promise<void> {
    const more = amountMinor === undefined ? {} : { amount_minor: amountMinor };
    const status = await untilDone(cluster, random, async () => {
      const answered = await cluster.service.bank.setCardDispute(reference, outcome, more);
      return answered >= 500 ? null : answered;
    });
    if (status !== null && status !== 200)
      problems.push(`the issuer refuses ${outcome} of ${reference}: ${status}`);
  }

  async function cancel({ of, id }: Raised): Promise<void> {
    const reply = await untilDone(cluster, random, async () => {
      const api = of.tenant.at(random.pick(cluster.service.apis).url);
      const answered = await api.call('POST', `/cards/disputes/${id}/cancel`, '{}');
      return answered.status >= 500 || answered.status === 429 ? null : answered;
    });
    if (reply?.status === 200) counts.cancelled += 1;
    else if (reply !== null && reply.status !== 422)
      problems.push(`${id} can't be cancelled: ${reply.text}`);
  }

  /** Lets a dispute take its course, once the issuer pursues it. */
  async function proceed(): Promise<void> {
    const [one] = waiting.splice(Math.floor(random.next() * waiting.length), 1);
    if (!one) return;
    const { of, id, reference, fate } = one;
    const path = `/cards/disputes/${id}`;
    const status = await look({ of, path, id });
    if (status === null || status === 'pending') return void waiting.push(one);
    if (status !== 'open') return;
    const amountMinor = (await get<{ amount_minor: number }>(of, path))?.amount_minor ?? 0;
    if (random.chance(0.5) && amountMinor >= LEAST_CREDITED_MINOR) {
      await setAtIssuer(reference, 'credited', 80);
      // Less than the credit, however often its answer is lost.
      if (random.chance(0.3)) await setAtIssuer(reference, 'credit_reversed', 5);
      counts.credited += 1;
    }
    if (fate === 'cancelled') {
      await cancel(one);
      // The issuer pursues what it does not withdraw.
      if (NOT_WITHDRAWABLE.test(reference)) waiting.push({ ...one, fate: 'lost' });
    } else if (fate !== 'open') {
      const decision = fate === 'decided' ? random.pick(['won', 'lost'] as const) : fate;
      await setAtIssuer(reference, decision);
      counts.decided += 1;
      if (fate === 'decided') await cancel(one);
    }
  }

  /** Acts before the first fault say nothing about the run. */
  const before = { disputes: 0, ...counts };
  const soFar = () => ({ disputes: accepted().length, ...counts });
  const sinceFirstFault = () =>
    Object.fromEntries(
      Object.entries(soFar()).map(([what, count]) => [
        what,
        count - before[what as keyof typeof before],
      ]),
    );

  const accepted = () => sent.filter(({ answer }) => answer?.status === 201);

  async function act(): Promise<void> {
    // The first dispute comes before the progress of others, because a short run on a slow machine has few acts.
    const isFirst = accepted().length === before.disputes;
    if (waiting.length > 0 && !isFirst && random.chance(0.6)) return proceed();
    const of = random.pick(cluster.tenants);
    const payment = await taken(of);
    if (!payment) return pay(of);
    const atOnce = random.chance(0.25) ? 3 : 1;
    await Promise.all(Array.from({ length: atOnce }, () => raise(of, payment)));
  }

  return {
    name: 'card-disputes',
    weight: 1,
    /** The cards are those of the workload `cards`. */
    async prepare() {
      if ((await cluster.service.deps.database.db.collection('cards').countDocuments()) === 0)
        return;
      await eventually('disputes before the random-fault run', async () => {
        await act();
        return counts.decided >= DECIDED_AT_FIRST ? true : undefined;
      });
      Object.assign(before, soFar());
    },
    act,
    async look() {
      if (accepted().length === 0) return;
      const { of, answer } = pickRecent(random, accepted());
      const id = String(answer?.id);
      await look({ of, path: `/cards/disputes/${id}`, id });
    },
    repeat,
    check: (received) =>
      checkDisputes(
        cluster,
        received,
        sent.map((one) => ({
          ...one,
          body: { ...one.body, reference: one.body.transaction_reference },
        })),
      ),
    figures: () => ({
      requests: sent.length,
      ...sinceFirstFault(),
      reads: reads(),
    }),
    problems,
  };
}

/** Checks the guarantees to clients. test/support compares the books and the credits with the issuer's journal. */
async function checkDisputes(
  cluster: ChaosCluster,
  received: ReceivedWebhooks,
  sent: Parameters<typeof answersHold>[0],
): Promise<string[]> {
  const { db } = cluster.service.deps.database;
  const disputes = await db.collection<CardDispute>('card_disputes').find().toArray();
  const payments = await db.collection<CardAuthorization>('card_authorizations').find().toArray();
  const made = disputes.map((one) => ({ ...one, reference: String(one.transaction_reference) }));
  return [
    ...answersHold(sent, made),
    ...disputes.flatMap((one) => eventProblems(received, one)),
    ...received.missing(disputes),
    ...payments.flatMap((payment) => beyond(payment, disputes)),
    ...(await isolated(cluster, made, {
      one: (id) => `/cards/disputes/${id}`,
      list: '/cards/disputes',
      posts: (id) => [[`/cards/disputes/${id}/cancel`, {}]],
    })),
  ];
}

const ENDS = ['won', 'lost', 'cancelled', 'failed'];

/** A dispute ends once, and its events say how. Only one that an operator has failed may go on. */
function eventProblems(received: ReceivedWebhooks, dispute: CardDispute): string[] {
  const { _id: id, tenant_id: tenantId, status, facts, cancellation } = dispute;
  const named = { ...dispute, status: status === 'open' ? 'opened' : status };
  const isEmitted = (event: string) => received.times(tenantId, id, `card.dispute.${event}`) > 0;
  const wasFailed = facts.some(({ kind }) => kind === 'refused');
  const never = ENDS.filter((end) => end !== status && !(end === 'failed' && wasFailed));
  const isRefused = status === 'open' && cancellation === 'refused';
  return [
    ...received.wrong('card.dispute', [{ ...named, endings: wasFailed ? ['failed'] : [] }]),
    ...never.filter(isEmitted).map((end) => `${id} is ${status}, and a webhook says ${end}`),
    ...(isRefused && !isEmitted('cancellation_refused')
      ? [`no webhook says that the cancellation of ${id} is refused`]
      : []),
  ];
}

/** The disputes of a payment are about no more than it has taken, however many were raised at once. */
function beyond(payment: CardAuthorization, disputes: readonly CardDispute[]): string[] {
  const minor = disputes
    .filter((one) => one.authorization_id === payment._id && isCounted(one))
    .reduce((sum, one) => sum + one.amount_minor, 0n);
  return minor > payment.cleared_minor
    ? [`${payment._id} took ${payment.cleared_minor}, and ${minor} of it is disputed`]
    : [];
}
