import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Workload } from './workload.js';
import { wrongHistories } from './histories.js';
import type { ChaosCluster } from './cluster.js';
import { readReceivedWebhooks } from './received-webhooks.js';

type Documents = Record<string, unknown>;

/** Everything that may be wrong after a random-fault run, in plain words. Empty when the claim holds. */
export async function check(
  cluster: ChaosCluster,
  workloads: readonly Workload[],
): Promise<string[]> {
  const received = await readReceivedWebhooks(cluster);
  const problems = [
    // Postings balance, wallets are their postings, what is held is what is open, and the bank agrees.
    ...(await cluster.service.problems()),
    ...(await nothingOpen(cluster)),
    ...received.problems,
    ...(await wrongHistories(cluster)),
    ...leaksInLogs(),
  ];
  for (const workload of workloads) {
    const found = [...workload.problems, ...(await workload.check(received))];
    problems.push(...found.map((problem) => `${workload.name}: ${problem}`));
  }
  return problems;
}

const LEAKS = fileURLToPath(new URL('../../support/log-leaks.mjs', import.meta.url));

/** The same as after every run of tests, before anything of the random-fault run is gone. */
function leaksInLogs(): string[] {
  const logs = String(process.env['BURSAR_TEST_LOGS']);
  const { status, stderr } = spawnSync(process.execPath, [LEAKS, logs], { encoding: 'utf8' });
  return status === 0 ? [] : [stderr];
}

/** Collections whose records go through states, and when one of them is under way. */
const IN_DOUBT = { status: { $in: ['pending', 'processing'] } };
export const RUNNING = 'ExecutionStatus = "Running"';
const DUE = { next_check_at: { $type: 'date' } };
const OPEN: readonly (readonly [string, Documents])[] = [
  ['transfers', { $or: [IN_DOUBT, DUE] }],
  ['bulk_transfers', DUE],
  ['card_operations', { $or: [IN_DOUBT, DUE] }],
  ['charges', { $or: [IN_DOUBT, DUE] }],
  ['refunds', { $or: [IN_DOUBT, DUE] }],
  ['provider_event_replays', { $or: [IN_DOUBT, DUE] }],
  // Each has ended, or an operator has been called.
  ['provider_events', { $or: [{ status: 'received' }, { status: 'failed', attention: null }] }],
  ['webhook_deliveries', { status: { $ne: 'delivered' } }],
];

/** Counts the unfinished work: records, provider events, deliveries, workflows. */
export async function countOpen({ service }: ChaosCluster): Promise<[string, number][]> {
  const { database, temporal } = service.deps;
  const counts = OPEN.map(async ([collection, filter]): Promise<[string, number]> => {
    return [collection, await database.db.collection(collection).countDocuments(filter)];
  });
  return [
    ...(await Promise.all(counts)),
    ['workflows', (await temporal.client.workflow.count(RUNNING)).count],
    ['callbacks at the bank', await service.bank.callbacksWaiting()],
  ];
}

export async function nothingOpen(cluster: ChaosCluster): Promise<string[]> {
  const open = (await countOpen(cluster)).filter(([, count]) => count > 0);
  return Promise.all(
    open.map(async ([what, count]) => {
      const names = await openOf(cluster, what);
      return `${count} ${what} open${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
    }),
  );
}

const MOST_NAMED = 5;

/** Some of them by name; of what the bank has to tell us, it says only how much it is. */
async function openOf({ service }: ChaosCluster, what: string): Promise<string[]> {
  const { database, temporal } = service.deps;
  const filter = OPEN.find(([collection]) => collection === what)?.[1];
  if (filter) {
    const found = database.db.collection(what).find(filter, { projection: { _id: 1 } });
    return (await found.limit(MOST_NAMED).toArray()).map(({ _id }) => String(_id));
  }
  const names: string[] = [];
  if (what !== 'workflows') return names;
  const { workflow } = temporal.client;
  for await (const { workflowId, runId } of workflow.list({ query: RUNNING })) {
    // Temporal's list follows its workflows, late at times: what the workflow itself says is told beside it.
    const { status } = await workflow.getHandle(workflowId, runId).describe();
    if (names.push(`${workflowId} (${status.name})`) === MOST_NAMED) break;
  }
  return names;
}
