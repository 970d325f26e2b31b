import { sleep } from '@temporalio/workflow';

/** A transfer workflow as somebody might break it: it waits before it sends. */
export async function transfer(): Promise<void> {
  await sleep(1_000);
}
