import { sleep } from '@temporalio/workflow';

/** A transfer workflow with a change that breaks replays: it waits before it submits. */
export async function transfer(): Promise<void> {
  await sleep(1_000);
}
