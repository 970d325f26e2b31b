import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deliveryWorkflowId } from '../../../src/core/webhooks/workflow-contract.js';
import type { Workload } from './workload.js';
import { wrongHistories } from './histories.js';
import type { ChaosCluster } from './cluster.js';
import { leaksInDataFiles, leaksInLogFiles } from './planted.js';
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
    ...(await deadDeliveries(cluster)),
    ...received.problems,
    ...(await wrongHistories(cluster)),
    ...leaksInLogs(),
    ...(await leaksInLogFiles()),
  ];
  for (const workload of workloads) {
    const found = [...workload.problems, ...(await workload.check(received))];
    problems.push(...found.map((problem) => `${workload.name}: ${problem}`));
  }
  // Comes last, because it adds a document and a workflow.
  return [...problems, ...(await leaksInDataFiles(cluster))];
}

const PARKED_WITHIN_MS = 240_000;

/** The dead endpoint gets nothing and is parked. Its deliveries stay, and no workflow is about a single one. */
async function deadDeliveries({ service, deadEndpoint }: ChaosCluster): Promise<string[]> {
  const { database, temporal, webhooks } = service.deps;
  const deliveries = database.db.collection('webhook_deliveries');
  const about = { endpoint_id: deadEndpoint };
  const delivered = await deliveries.countDocuments({ ...about, status: 'delivered' });
  const endpoint = await parked(() => webhooks.endpoints.get(deadEndpoint));
  const runs = new Set<string>();
  const query = "WorkflowType = 'webhookDelivery'";
  for await (const { workflowId } of temporal.client.workflow.list({ query })) runs.add(workflowId);
  for (const { id } of await webhooks.endpoints.list()) runs.delete(deliveryWorkflowId(id));
  return [
    ...(delivered === 0 ? [] : [`${delivered} webhooks were delivered to a dead endpoint`]),
    ...((await deliveries.countDocuments(about)) > 0 ? [] : ['no webhook for the dead endpoint']),
    ...(endpoint?.status === 'parked' ? [] : [`the dead endpoint is ${endpoint?.status}`]),
    ...[...runs].map((id) => `${id} is the workflow of no endpoint`),
  ];
}

/** An endpoint that fails is parked after a time (`cluster.ts`), which a short run may not have reached. */
async function parked<E extends { status: string } | null>(read: () => Promise<E>): Promise<E> {
  const end = performance.now() + PARKED_WITHIN_MS;
  for (;;) {
    const endpoint = await read();
    if (endpoint?.status === 'parked' || performance.now() > end) return endpoint;
    await sleep(1_000);
  }
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
/** The workflow of a message that can't be applied waits for an operator. Reconciliations and verifications start again and again. */
const UNFINISHED = `${RUNNING} AND WorkflowType NOT IN ('depositReconciliation', 'transferReconciliation', 'recordReconciliation', 'statementReconciliation', 'auditVerification') AND (WorkflowType != 'providerEvent' OR NeedsAttention IS NULL OR NeedsAttention = false)`;
const DUE = { next_check_at: { $type: 'date' } };
/** Nothing is left in suspense at the end. */
const SUSPENDED = { 'suspended.0': { $exists: true } };
const OPEN: readonly (readonly [string, Documents])[] = [
  ['transfers', { $or: [IN_DOUBT, DUE] }],
  ['bulk_transfers', DUE],
  ['card_operations', { $or: [IN_DOUBT, DUE] }],
  // Those that are still held.
  ['card_authorizations', DUE],
  // An open dispute waits for its issuer, which is asked after a day.
  ['card_disputes', { status: 'pending' }],
  ['charges', { $or: [IN_DOUBT, DUE, SUSPENDED] }],
  ['payment_tokens', DUE],
  ['refunds', { $or: [IN_DOUBT, DUE] }],
  ['bill_payments', { $or: [IN_DOUBT, DUE] }],
  ['identity_checks', { $or: [IN_DOUBT, DUE] }],
  ['virtual_accounts', { $or: [IN_DOUBT, DUE] }],
  ['deposits', { $or: [IN_DOUBT, DUE] }],
  ['provider_event_replays', { $or: [IN_DOUBT, DUE] }],
  // An event that failed with attention is not open: it waits for an operator.
  ['provider_events', { $or: [{ status: 'received' }, { status: 'failed', attention: null }] }],
];

/** Deliveries that have not ended. Those to the dead endpoint wait, or have died after all attempts. */
const undelivered = ({ deadEndpoint }: ChaosCluster): Documents => ({
  $nor: [
    { status: 'delivered' },
    { status: { $in: ['retrying', 'dead'] }, endpoint_id: deadEndpoint },
  ],
});

const openIn = (cluster: ChaosCluster): readonly (readonly [string, Documents])[] => [
  ...OPEN,
  ['webhook_deliveries', undelivered(cluster)],
];

/** Counts the unfinished work: records, provider events, deliveries, workflows. */
export async function countOpen(cluster: ChaosCluster): Promise<[string, number][]> {
  const { service } = cluster;
  const { database, temporal } = service.deps;
  const counts = openIn(cluster).map(async ([collection, filter]): Promise<[string, number]> => {
    return [collection, await database.db.collection(collection).countDocuments(filter)];
  });
  return [
    ...(await Promise.all(counts)),
    ['workflows', (await temporal.client.workflow.count(UNFINISHED)).count],
    ['callbacks at the bank', await service.bank.callbacksWaiting()],
    ['transfers reversed without a message', await reversalsUnseen(cluster)],
  ];
}

/** Transfers that the bank has reversed, or is about to, and that still count as paid: a reconciliation must find each. */
const reversalsUnseen = ({ service, reversedUntold }: ChaosCluster): Promise<number> =>
  service.deps.database.db
    .collection<{ _id: string }>('transfers')
    .countDocuments({ _id: { $in: reversedUntold }, status: 'completed' });

/** Lists the unfinished work as text, with some ids. Empty if no work is open. */
export async function nothingOpen(cluster: ChaosCluster): Promise<string[]> {
  const open = (await countOpen(cluster)).filter(([, count]) => count > 0);
  return Promise.all(
    open.map(async ([what, count]) => {
      const names = await openOf(cluster, what);
      const unseen = await withoutAttention(cluster, what);
      const seen = unseen > 0 ? `, ${unseen} of them without attention` : '';
      return `${count} ${what} open${seen}${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
    }),
  );
}

/** The number of open records of a collection for which no operator is called. */
async function withoutAttention({ service }: ChaosCluster, what: string): Promise<number> {
  if (!OPEN.some(([name, filter]) => name === what && '$or' in filter)) return 0;
  const unseen = { ...IN_DOUBT, attention: null };
  return service.deps.database.db.collection(what).countDocuments(unseen);
}

const MOST_NAMED = 5;

/** Ids of some open records. The bank reports only the number of its waiting callbacks. */
async function openOf(cluster: ChaosCluster, what: string): Promise<string[]> {
  const { database, temporal } = cluster.service.deps;
  const filter = openIn(cluster).find(([collection]) => collection === what)?.[1];
  if (filter) {
    const found = database.db.collection(what).find(filter, { projection: { _id: 1 } });
    return (await found.limit(MOST_NAMED).toArray()).map(({ _id }) => String(_id));
  }
  const names: string[] = [];
  if (what !== 'workflows') return names;
  const { workflow } = temporal.client;
  for await (const { workflowId, runId } of workflow.list({ query: UNFINISHED })) {
    // Temporal's list may lag behind its workflows, so the status from the workflow itself is shown too.
    const { status } = await workflow.getHandle(workflowId, runId).describe();
    if (names.push(`${workflowId} (${status.name})`) === MOST_NAMED) break;
  }
  return names;
}
