import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';
import { untilDone } from './choosing.js';

/** The share of acts that lift a lock, if there is one. */
const LIFTED = 0.85;
/** Changed; not issued yet; closed. */
const ANSWERS = new Set([200, 404, 409]);

/** Locks of the sandbox's issuer, which lifts each of them later. */
export function createIssuerLocks(cluster: ChaosCluster, random: Random, problems: string[]) {
  const locked = new Set<string>();
  /** Cards that the issuer has changed. */
  const changed = new Set<string>();
  const counts = { locked_by_issuer: 0, lifted_by_issuer: 0 };

  async function change(card: string, status: 'locked' | 'active'): Promise<boolean> {
    changed.add(card);
    const answered = await untilDone(cluster, random, async () => {
      const code = await cluster.service.bank.changeCard(card, status);
      return code >= 500 ? null : code;
    });
    if (answered !== null && !ANSWERS.has(answered)) {
      problems.push(`the issuer refuses to have ${card} ${status}: ${answered}`);
    }
    return answered === 200;
  }

  async function lift(card: string): Promise<void> {
    locked.delete(card);
    if (await change(card, 'active')) counts.lifted_by_issuer += 1;
  }

  return {
    changed: changed as ReadonlySet<string>,
    /** Lifts a lock, or locks this card. */
    async act(card: string): Promise<void> {
      if (locked.size > 0 && random.chance(LIFTED)) return lift(random.pick([...locked]));
      locked.add(card);
      if (await change(card, 'locked')) counts.locked_by_issuer += 1;
    },
    /** Lifts all locks but one, which stays. */
    async settle(): Promise<void> {
      for (const card of [...locked].slice(1)) await lift(card);
    },
    figures: () => counts,
  };
}
