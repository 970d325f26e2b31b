import { creditWallet } from '../../../../src/capabilities/wallets/create.js';
import type { Workload } from '../workload.js';
import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';

/** Enough for a few transfers. */
const CREDIT_MINOR = 2_000_000n;

/** Incoming credits, each reported twice, and reads of wallets. A balance is never negative. */
export function createWallets(cluster: ChaosCluster, random: Random): Workload {
  const { service, tenants, hot } = cluster;
  const problems: string[] = [];
  const { database, groupCommit } = service.deps;
  const wallets = database.db.collection<{ _id: string; available_minor: bigint }>('wallets');
  const counts = { credits: 0, reads: 0, dry: 0 };
  /** Ids of the postings of requested credits, and of acknowledged credits. */
  const requested = new Set<string>();
  const acknowledged = new Set<string>();

  async function credit(reference: string): Promise<void> {
    const posting = `credit/${hot.tenant.id}/${reference}`;
    requested.add(posting);
    const input = { tenantId: hot.tenant.id, amountMinor: CREDIT_MINOR, reference };
    while (cluster.isPatient()) {
      const answer = await creditWallet(groupCommit, input).catch(() => null);
      if (answer) return void acknowledged.add(posting);
    }
  }

  return {
    name: 'wallets',
    weight: 0.25,
    async act() {
      const reference = `chaos-${counts.credits}`;
      counts.credits += 1;
      await credit(reference);
      await credit(reference);
    },
    async look() {
      const { tenant } = random.chance(0.5) ? hot : random.pick(tenants);
      const wallet = await wallets.findOne({ _id: tenant.id }).catch(() => undefined);
      if (wallet === null) problems.push(`the wallet of ${tenant.id} is not there`);
      if (!wallet) return;
      counts.reads += 1;
      if (wallet.available_minor < 151_000n) counts.dry += 1;
      if (wallet.available_minor < 0n) {
        problems.push(`the wallet of ${tenant.id} was read at ${wallet.available_minor}`);
      }
    },
    async check() {
      const found: string[] = [];
      for (const { tenant } of tenants) {
        const { available, held } = await tenant.balance();
        if (held !== 0) found.push(`${tenant.id} has ${held} held`);
        if (available < 0) found.push(`${tenant.id} is at ${available}`);
      }
      const postings = await database.db
        .collection<{ _id: string }>('postings')
        .find({ _id: { $regex: `^credit/${hot.tenant.id}/chaos-` } }, { projection: { _id: 1 } })
        .toArray();
      const posted = new Set(postings.map(({ _id }) => _id));
      const lost = [...acknowledged].filter((id) => !posted.has(id));
      const unrequested = [...posted].filter((id) => !requested.has(id));
      const unacknowledged = [...requested].filter((id) => !acknowledged.has(id));
      return [
        ...found,
        ...unacknowledged.map((id) => `${id} was never acknowledged`),
        ...lost.map((id) => `${id} was acknowledged, and has no posting`),
        ...unrequested.map((id) => `${id} is posted without a request`),
      ];
    },
    figures: () => counts,
    problems,
  };
}
