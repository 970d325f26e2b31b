import type { WorkflowService } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';

/** A worker polls at least once a minute, and the server remembers it for five. Two missed polls count as gone. */
const SILENT_MS = 2 * 60_000;
/** The server's number for workflow tasks. */
export const WORKFLOW_TASKS = 1;
/** The server's number for activity tasks. */
export const ACTIVITY_TASKS = 2;

/**
 * Counts the processes that poll a queue, and the time of the last poll (0 if there was none). The times are of the server's
 * clock. A process that polls the queue itself compares them with the last one (`isPolling`), so its own clock may be wrong.
 */
export async function pollersOf(
  { workflowService }: { workflowService: WorkflowService },
  namespace: string,
  name: string,
  taskQueueType: number,
  { isPolling = false } = {},
): Promise<{ alive: number; lastMs: number }> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType,
  });
  const polls = (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity,
    atMs: lastAccessTime ? tsToMs(lastAccessTime) : 0,
  }));
  const lastMs = Math.max(0, ...polls.map(({ atMs }) => atMs));
  const nowMs = isPolling ? lastMs : Date.now();
  const alive = polls.filter(({ atMs }) => nowMs - atMs < SILENT_MS);
  return { alive: new Set(alive.map(({ identity }) => identity)).size, lastMs };
}
