import { randomUUID } from 'node:crypto';
import type { TransferReconciliationInput } from '../../../src/capabilities/transfers/workflow-contract.js';
import { eventually } from '../../support/eventually.js';
import { transferBody } from '../../support/tenant.js';
import type { Case } from './capability.js';
import type { Cluster } from './cluster.js';

/** End of accounts whose transfers are paid and then reversed, without a message. */
const REVERSED_UNTOLD = '023';

/** Starts the comparison that a Schedule starts every day. */
function reconcile({ service }: Cluster) {
  const input: TransferReconciliationInput = {
    provider: 'sandbox-bank',
    days: 1,
    perSecond: 50,
    position: null,
    counts: { asked: 0, unanswered: 0, differing: 0, settled: 0 },
  };
  return service.deps.temporal.client.workflow.start('transferReconciliation', {
    workflowId: `transfer-reconciliation/${randomUUID()}`,
    taskQueue: String(service.env['BURSAR_TASK_QUEUE']),
    args: [input],
  });
}

/** The bank reverses a transfer and says so to nobody, and the worker dies as it books that: the money is back once. */
const lostReversal = (point: string): Case => ({
  name: `a reversal of a transfer whose message was lost: the worker dies at ${point}`,
  async run(cluster) {
    const { tenant } = cluster;
    const { available } = await tenant.balance();
    const request = { path: '/transfers', body: transferBody(REVERSED_UNTOLD), key: randomUUID() };
    const { body } = await cluster.post(request);
    const { id } = body.data;
    await eventually('the bank has reversed it', async () =>
      (await cluster.effects(id)).includes('reversed') ? true : undefined,
    );
    await cluster.isNotified(id, ['transfer.processing', 'transfer.completed']);
    await cluster.dies([{ who: 'worker', point }], () => reconcile(cluster));
    await tenant.waitFor(id, 'failed');
    const events = ['transfer.processing', 'transfer.completed', 'transfer.reversed'];
    await cluster.isNotified(id, events);
    await cluster.isQuiet();
    expect(await tenant.balance()).toEqual({ available, held: 0 });
  },
});

export const lostReversals: Case[] = ['commit.before', 'commit.after'].map(lostReversal);
