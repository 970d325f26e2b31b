import { setTimeout as sleep } from 'node:timers/promises';
import {
  issuerClient,
  type Decision,
  type Payment,
  type PaymentOutcome,
} from '../../../support/issuer.js';
import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';
import { chooseOf, untilDone } from './choosing.js';

type Outcome = 'cleared' | 'reversed' | 'expired';
/** Shares of the approved amount: cleared in two parts, incremented, reversed in part. */
const PARTS = 0.3;
const INCREMENTED = 0.2;
const REVERSED_IN_PART = 0.15;
const REFUNDED = 0.2;
type Paid = { token: string; amountMinor: number; approvedAt: number };

/** Kinds of requests that hold nothing, so that there is nothing to end. */
const WITHOUT_HOLD = new Set<Payment['kind']>(['verification', 'balance_inquiry', 'credit']);
const COURSES = ['007', '008', '009', '010', '011', '012', '013', '014', '015', '016', '017'];

/**
 * Kinds of payments, by weight. The suffix of a merchant's name chooses the course that the sandbox lets a payment take by itself
 * (docs/guide/test-values.md). Amounts with a course are even, because it halves them.
 */
const KINDS: readonly (readonly [number, Omit<Payment, 'amount_minor'> & { suffix?: string }])[] = [
  [60, {}],
  [10, { kind: 'financial' }],
  [6, { partial_approval: true }],
  [3, { kind: 'verification' }],
  [3, { kind: 'balance_inquiry' }],
  [3, { kind: 'credit' }],
  ...COURSES.map((suffix) => [3, { suffix }] as const),
];
/** The courses that do not end the payment. */
const OPEN_COURSES = new Set(['007', '017']);

/** Share of ended payments whose end, with all before it, is told by no message: the issuer is asked while we hold their money. */
const UNTOLD = 0.1;
/** Less than the time of a hold in the run. The next question about a hold that is past its time is a day later. */
const UNTOLD_WITHIN_MS = 20_000;
/** Share of approved payments that expire without a report, so that the issuer is asked when their hold is past its time. */
const LEFT = 0.05;
/** Decline reasons of payments without a decision in time. */
const IN_VAIN = new Set(['deadline_exceeded', 'no_answer', 'service_unavailable']);
const MOST_TRIES = 4;

/** Cardholders who pay through the sandbox's issuer. Approved payments are cleared, in full or in part, or reversed. */
export function createPayers(cluster: ChaosCluster, random: Random, problems: string[]) {
  const issuer = issuerClient(cluster.service);
  const open: Paid[] = [];
  /** Tokens of the approved payments whose answer arrived. */
  const known = new Set<string>();
  const counts = {
    payments: 0,
    approved: 0,
    increments: 0,
    parts: 0,
    cleared: 0,
    reversed: 0,
    expired: 0,
    refunded: 0,
    left: 0,
    untold: 0,
    credits: 0,
    without_hold: 0,
    financial: 0,
    courses: 0,
    answers_lost: 0,
  };
  /** Counts of declined payments, by reason. */
  const declined: Record<string, number> = {};

  /** Lets something become of a payment, until the issuer has answered. */
  async function report(
    token: string,
    outcome: PaymentOutcome,
    minor?: number,
    { final = true, told = true } = {},
  ): Promise<boolean> {
    const status = await untilDone(cluster, random, async () => {
      const answered = await issuer.end(token, outcome, minor, { final, report: told });
      return answered >= 500 ? null : answered;
    });
    if (status !== 200) problems.push(`the issuer refuses to have ${token} ${outcome}: ${status}`);
    return status === 200;
  }

  /** Lets a payment expire without a report. */
  async function leave(token: string): Promise<void> {
    const status = await untilDone(cluster, random, async () => {
      const answered = await issuer.end(token, 'expired', undefined, { report: false });
      return answered >= 500 ? null : answered;
    });
    if (status === 200) counts.left += 1;
  }

  /** Increments, partial clearings and partial reversals before the end of a payment. */
  async function partsOf({ token, amountMinor }: Paid, told: boolean): Promise<void> {
    const part = Math.max(1, Math.round(amountMinor * random.between(0.1, 0.4)));
    if (random.chance(INCREMENTED)) {
      const more = { authorization: token, kind: 'increment', amount_minor: part } as const;
      const decision = await issuer.pay('any', more).catch(() => null);
      if (decision?.approved) counts.increments += 1;
    }
    const isCleared = random.chance(PARTS);
    if (isCleared && (await report(token, 'cleared', part, { final: false, told }))) {
      counts.parts += 1;
    }
    if (random.chance(REVERSED_IN_PART)) await report(token, 'reversed', part, { told });
  }

  async function endOne(paid: Paid): Promise<void> {
    const { token, amountMinor, approvedAt } = paid;
    const hasNextQuestion = Date.now() < approvedAt + UNTOLD_WITHIN_MS;
    const told = !random.chance(UNTOLD) || !hasNextQuestion;
    await partsOf(paid, told);
    const [outcome, share] = chooseOf<[Outcome, number]>(random, [
      [50, ['cleared', 1]],
      [20, ['cleared', random.between(0.1, 0.9)]],
      // Clearing may exceed the approval, as with tips, and takes its money.
      [4, ['cleared', 1.2]],
      // This is beyond the tolerance, and calls an operator.
      [6, ['cleared', 1.5]],
      [20, ['reversed', 1]],
      [6, ['expired', 1]],
    ]);
    const minor = Math.max(1, Math.round(amountMinor * share));
    const ended = outcome === 'cleared' ? minor : undefined;
    const done = await report(token, outcome, ended, { told });
    if (done) counts[outcome] += 1;
    if (done && !told) counts.untold += 1;
    if (done && outcome === 'cleared' && random.chance(REFUNDED)) {
      if (await report(token, 'refunded', Math.max(1, Math.round(minor / 2)))) counts.refunded += 1;
    }
  }

  /** Continues after the approval of a request that holds nothing: the merchant pays a credit. */
  async function followUp(payment: Payment, decision: Decision): Promise<void> {
    counts.without_hold += 1;
    const { token, available_minor: available } = decision;
    if (payment.kind === 'balance_inquiry' && available === undefined) {
      problems.push(`the answer to the balance inquiry ${token} has no balance`);
    }
    if (payment.kind !== 'credit') return;
    if (await report(token, 'refunded', payment.amount_minor)) counts.credits += 1;
  }

  /** Clears or reverses a payment that was approved before. */
  async function end(): Promise<void> {
    const [paid] = open.splice(Math.floor(random.next() * open.length), 1);
    if (paid) await endOne(paid);
  }

  return {
    end,
    /**
     * Ends the payments that are still open, and reverses those that the issuer has approved and whose answer the payer
     * never got: a hold that the issuer keeps is asked about once a day, which is longer than the run.
     */
    async settle(): Promise<void> {
      while (open.length > 0) await end();
      const journal = await cluster.service.bank.journal();
      const tokens = (isApproval: boolean) =>
        new Set(
          journal
            .filter(({ kind }) => (kind === 'authorized') === isApproval)
            // A request that holds nothing leaves nothing to reverse.
            .filter(({ amount_minor: minor }) => !isApproval || minor !== 0)
            .map(({ reference }) => reference),
        );
      // The issuer may have withdrawn an approval, or ended it, by itself.
      const ended = tokens(false);
      for (const token of tokens(true)) {
        if (known.has(token) || ended.has(token)) continue;
        counts.answers_lost += 1;
        await report(token, 'reversed');
      }
    },
    /** Pays; a payment that is declined without a decision in time is tried again, as people do. */
    async pay(card: string): Promise<void> {
      const { suffix, ...kind } = chooseOf(random, KINDS);
      const isOpen = kind.kind !== 'financial' && (!suffix || OPEN_COURSES.has(suffix));
      const isAsked = kind.kind === 'verification' || kind.kind === 'balance_inquiry';
      const amount_minor = isAsked ? 0 : 100 * Math.round(random.between(5, 90));
      const merchant = suffix === undefined ? {} : { merchant: { name: `Course ${suffix}` } };
      const channel = random.pick(['online', 'pos', 'contactless'] as const);
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        counts.payments += 1;
        const payment = { amount_minor, channel, ...merchant, ...kind };
        const decision = await issuer.pay(card, payment).catch(() => null);
        if (decision?.approved) {
          const { token, approved_amount_minor: amountMinor } = decision;
          counts.approved += 1;
          known.add(token);
          if (WITHOUT_HOLD.has(kind.kind)) await followUp(payment, decision);
          else if (!isOpen) counts[suffix ? 'courses' : 'financial'] += 1;
          else if (random.chance(LEFT)) await leave(token);
          else open.push({ token, amountMinor, approvedAt: Date.now() });
        }
        const code = decision?.code ?? 'no_answer';
        if (decision?.approved !== true) declined[code] = (declined[code] ?? 0) + 1;
        if (!IN_VAIN.has(code)) break;
        // Without a pause, a payer would do little else than repeat requests to a dead process.
        await sleep(random.between(500, 2_000));
      }
      while (open.length > 10 || (open.length > 0 && random.chance(0.6))) await end();
    },
    figures: () => ({ ...counts, ...declined }),
  };
}
