import type { WorkflowService } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';

/** A worker asks for tasks at least once a minute; the server remembers it for five. */
const SILENT_MS = 2 * 60_000;
/** The server's numbers for the two kinds of tasks. */
export const WORKFLOW_TASKS = 1;
export const ACTIVITY_TASKS = 2;

/** How many processes ask for tasks of a queue, and when the last one was heard of (0: never). */
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
  const seen = (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity,
    atMs: lastAccessTime ? tsToMs(lastAccessTime) : 0,
  }));
  const alive = seen.filter(({ atMs }) => Date.now() - atMs < SILENT_MS);
  return {
    alive: new Set(alive.map(({ identity }) => identity)).size,
    lastMs: Math.max(0, ...seen.map(({ atMs }) => atMs)),
  };
}
