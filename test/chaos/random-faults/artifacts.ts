import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RUNNING } from './checker.js';
import type { ChaosCluster } from './cluster.js';

/** The process that caused the failure may still be down, so each read has a time limit. */
const WITHIN_MS = 30_000;
const COLLECTIONS = [
  'transfers',
  'card_operations',
  'charges',
  'payment_tokens',
  'refunds',
  'bill_payments',
  'identity_checks',
  'virtual_accounts',
  'deposits',
];

/**
 * Saves the evidence of a failure: the seed, the faults, the bank's journal, the logs, open records and their histories.
 * After an aborted run some reads may fail, so the files that are already on disk are copied first.
 */
export async function keepArtifacts(
  name: string,
  what: object,
  cluster: ChaosCluster | undefined,
): Promise<void> {
  const folder = join('chaos-failures', `${name}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  const write = (file: string, content: unknown) =>
    writeFileSync(join(folder, file), JSON.stringify(content, toText, 1) ?? 'null');
  write('run.json', what);
  cpSync(String(process.env['BURSAR_TEST_LOGS']), join(folder, 'logs'), { recursive: true });
  console.log(`kept in ${folder}`);
  if (!cluster) return;
  cluster.giveUp();
  write('journal.json', await inTime(journalOf(cluster)));
  write('evidence.json', cluster.evidence);
  write('histories.json', await inTime(historiesOf(cluster)));
  for (const collection of COLLECTIONS) {
    write(`${collection}.json`, await inTime(openOf(cluster, collection)));
  }
}

async function journalOf({ service: { bank } }: ChaosCluster): Promise<unknown> {
  if (!bank.isRunning()) await bank.start();
  return bank.journal();
}

const MOST_HISTORIES = 20;

/** Running workflows with their pending activities and histories. */
async function historiesOf({ service }: ChaosCluster): Promise<unknown[]> {
  const { workflow } = service.deps.temporal.client;
  const histories: unknown[] = [];
  for await (const { workflowId, runId } of workflow.list({ query: RUNNING })) {
    const handle = workflow.getHandle(workflowId, runId);
    const { raw } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const { pendingActivities, pendingWorkflowTask } = raw;
    histories.push({ workflowId, pendingActivities, pendingWorkflowTask, events });
    if (histories.length === MOST_HISTORIES) break;
  }
  return histories;
}

async function openOf({ service }: ChaosCluster, collection: string): Promise<unknown> {
  const open = { $or: [{ next_check_at: { $type: 'date' } }, { status: /pending|processing/ }] };
  const records = service.deps.database.db.collection(collection).find(open as object);
  return records.limit(200).toArray();
}

async function inTime(read: Promise<unknown>): Promise<unknown> {
  const late = sleep(WITHIN_MS, { unreadable: 'no answer in time' }, { ref: false });
  return Promise.race([read, late]).catch((error: unknown) => ({ unreadable: String(error) }));
}

const toText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
