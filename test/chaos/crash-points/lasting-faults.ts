import { eventually } from '../../support/eventually.js';
import { PAID, type Case } from './capability.js';
import type { Cluster } from './cluster.js';
import { isRight } from './transfers.js';

/** End of accounts whose transfers stay pending until their outcome is set at the bank. */
const PENDING = '006';
/** The time for which the bank's copy lacks what it has acknowledged. */
const LAG_MS = 5_000;

/** A transfer that the bank has acknowledged, and not decided. */
async function acknowledged({ tenant }: Cluster): Promise<string> {
  const id = await tenant.send(PENDING);
  await eventually('the bank has acknowledged it', async () =>
    (await tenant.stored(id)).acknowledged_at === null ? undefined : true,
  );
  return id;
}

/** The bank fails over to a copy that lacks an acknowledged transfer, and the worker dies with its answer: it is paid once. */
const laggingCopy = (point: string): Case => ({
  name: `an acknowledged transfer that a lagging copy of the bank lacks: the worker dies at ${point}`,
  async run(cluster) {
    const id = await acknowledged(cluster);
    await cluster.dies([{ who: 'worker', point }], () =>
      cluster.service.bank.failOver([id], LAG_MS),
    );
    await cluster.service.bank.decideTransfer(id, 'paid');
    await isRight(cluster, id, PAID);
    expect(await cluster.tenant.stored(id)).toMatchObject({ submissions: 1, attention: null });
    await cluster.isQuiet();
  },
});

export const lastingFaults: Case[] = ['verify.before:2', 'verify.answered:2'].map(laggingCopy);
