import { patched, sleep } from '@temporalio/workflow';
import { transfer as present } from '../../workflows/transfer.js';

/** The same change as in changed-workflow.ts, made as it has to be: only for runs that begin with it. */
export async function transfer(input: Parameters<typeof present>[0]): Promise<void> {
  if (patched('wait-before-sending')) await sleep(1_000);
  await present(input);
}
