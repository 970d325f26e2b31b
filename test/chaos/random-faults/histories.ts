import { DefaultLogger, Runtime, Worker, type ReplayHistoriesIterable } from '@temporalio/worker';
import type { ChaosCluster } from './cluster.js';
import { secretsAndPersonalData } from './planted.js';

/**
 * Violations in histories: a history holds data that it must not hold, or does not replay with the workflow's code. The
 * logs are searched when the run ends.
 */
export async function wrongHistories(cluster: ChaosCluster): Promise<string[]> {
  const problems: string[] = [];
  const underWay = new Map<string, object>();
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const replayed = Worker.runReplayHistories(
    { workflowBundle: { codePath: cluster.bundle } },
    allHistories(cluster, problems, underWay),
  );
  let count = 0;
  for await (const { workflowId, runId, error } of replayed) {
    count += 1;
    if (error) {
      problems.push(`the history of ${workflowId} does not replay: ${error.message}`);
      cluster.evidence.push({ workflowId, history: underWay.get(runId) });
    }
    underWay.delete(runId);
  }
  if (count === 0) problems.push('no history was replayed');
  return problems;
}

/** Yields all histories, and searches each of them for forbidden data. */
async function* allHistories(
  { service }: ChaosCluster,
  problems: string[],
  underWay: Map<string, object>,
): ReplayHistoriesIterable {
  const { workflow } = service.deps.temporal.client;
  const sought = secretsAndPersonalData();
  for await (const { workflowId, runId } of workflow.list()) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    const text = textOf(history);
    // A history without the record's id was not decoded, so the search below would find no leak either.
    const id = workflowId.slice(workflowId.indexOf('/') + 1);
    if (!text.includes(id)) problems.push(`the history of ${workflowId} is not readable`);
    const leaks = sought.filter(([, value]) =>
      typeof value === 'string' ? text.includes(value) : value.test(text),
    );
    problems.push(...leaks.map(([what]) => `the history of ${workflowId} has ${what}`));
    underWay.set(runId, history);
    yield { workflowId, history };
  }
}

/** Everything in a history, payloads decoded. */
const textOf = (history: object): string =>
  JSON.stringify(history, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
    const bytes = value as { type?: string; data?: number[] } | null;
    return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('utf8') : value;
  });
