import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Workload } from './workload.js';
import { wrongHistories } from './histories.js';
import type { ChaosCluster } from './cluster.js';
import { readReceivedWebhooks } from './received-webhooks.js';

type Documents = Record<string, unknown>;

/** Every violation after a random-fault run, as text. Empty if all guarantees held. */
export async function check(
  cluster: ChaosCluster,
  workloads: readonly Workload[],
): Promise<string[]> {
  const received = await readReceivedWebhooks(cluster);
  const problems = [
    // Postings balance, wallets equal the sums of their postings, holds belong to open records, and the bank agrees.
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

/** Runs the leak check that ends every test run, while the logs of this run still exist. */
function leaksInLogs(): string[] {
  const logs = String(process.env['BURSAR_TEST_LOGS']);
  const { status, stderr } = spawnSync(process.execPath, [LEAKS, logs], { encoding: 'utf8' });
  return status === 0 ? [] : [stderr];
}

/** Filters for the open records of each collection. */
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
  // An event that failed with attention is not open: it waits for an operator.
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

/** Lists the unfinished work as text, with some ids. Empty if no work is open. */
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

/** Ids of some open records. The bank reports only the number of its waiting callbacks. */
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
    // Temporal's list may lag behind its workflows, so the status from the workflow itself is shown too.
    const { status } = await workflow.getHandle(workflowId, runId).describe();
    if (names.push(`${workflowId} (${status.name})`) === MOST_NAMED) break;
  }
  return names;
}
