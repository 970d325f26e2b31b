import { setTimeout as sleep } from 'node:timers/promises';
import { issuerClient } from '../../../support/issuer.js';
import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';
import { chooseOf, untilDone } from './choosing.js';

type Outcome = 'cleared' | 'reversed' | 'expired';
type Paid = { token: string; amountMinor: number };

/** Share of approved payments that the issuer never reports, so that their holds expire. */
const LEFT = 0.05;
/** Decline reasons of payments without a decision in time. */
const IN_VAIN = new Set(['deadline_exceeded', 'no_answer', 'service_unavailable']);
const MOST_TRIES = 4;

/** Cardholders who pay through the sandbox's issuer. Approved payments are cleared, in full or in part, or reversed. */
export function createPayers(cluster: ChaosCluster, random: Random, problems: string[]) {
  const issuer = issuerClient(cluster.service);
  const open: Paid[] = [];
  const counts = { payments: 0, approved: 0, cleared: 0, reversed: 0, expired: 0, left: 0 };
  /** Counts of declined payments, by reason. */
  const declined: Record<string, number> = {};

  async function endOne({ token, amountMinor }: Paid): Promise<void> {
    const [outcome, share] = chooseOf<[Outcome, number]>(random, [
      [50, ['cleared', 1]],
      [20, ['cleared', random.between(0.1, 0.9)]],
      // Clearing may exceed the approval, as with tips, and is accepted.
      [4, ['cleared', 1.2]],
      [20, ['reversed', 1]],
      [6, ['expired', 1]],
    ]);
    const minor = Math.max(1, Math.round(amountMinor * share));
    const status = await untilDone(cluster, random, async () => {
      const answered = await issuer.end(token, outcome, outcome === 'cleared' ? minor : undefined);
      return answered >= 500 ? null : answered;
    });
    if (status === 200) counts[outcome] += 1;
    else problems.push(`the issuer refuses to have ${token} ${outcome}: ${status}`);
  }

  /** Clears or reverses a payment that was approved before. */
  async function end(): Promise<void> {
    const [paid] = open.splice(Math.floor(random.next() * open.length), 1);
    if (paid) await endOne(paid);
  }

  return {
    end,
    /** Pays; a payment that is declined without a decision in time is tried again, as people do. */
    async pay(card: string): Promise<void> {
      const amount_minor = Math.round(random.between(500, 9_000));
      const channel = random.pick(['online', 'pos', 'contactless'] as const);
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        counts.payments += 1;
        const decision = await issuer.pay(card, { amount_minor, channel }).catch(() => null);
        if (decision?.approved) {
          counts.approved += 1;
          if (random.chance(LEFT)) counts.left += 1;
          else open.push({ token: decision.token, amountMinor: amount_minor });
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
