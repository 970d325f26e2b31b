import { sleep } from '@temporalio/workflow';
import { transfer as present } from '../../workflows/transfer.js';
import { changed, type Changes } from '../../workflows/versions.js';

const CHANGES: Changes = {
  'wait-before-submitting': { since: '2026-11-21', description: 'waits before it submits' },
};

/** The change of changed-workflow.ts behind `changed`, so that only runs that start with it wait. */
export async function transfer(input: Parameters<typeof present>[0]): Promise<void> {
  if (changed('wait-before-submitting', CHANGES)) await sleep(1_000);
  await present(input);
}
