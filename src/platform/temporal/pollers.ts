import type { WorkflowService } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';

/** A worker polls at least once a minute, and the server remembers it for five. Two missed polls count as gone. */
const SILENT_MS = 2 * 60_000;
/** The server's number for workflow tasks. */
export const WORKFLOW_TASKS = 1;
/** The server's number for activity tasks. */
export const ACTIVITY_TASKS = 2;

/** Counts the processes that poll a queue, and the time of the last poll (0 if there was none). */
export async function pollersOf(
  { workflowService }: { workflowService: WorkflowService },
  namespace: string,
  name: string,
  taskQueueType: number,
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
  const alive = polls.filter(({ atMs }) => Date.now() - atMs < SILENT_MS);
  return {
    alive: new Set(alive.map(({ identity }) => identity)).size,
    lastMs: Math.max(0, ...polls.map(({ atMs }) => atMs)),
  };
}
