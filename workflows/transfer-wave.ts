import { CancellationScope, setCurrentDetails } from '@temporalio/workflow';
import type { TransferWaveInput } from '../src/transfers/reports.js';
import { localActivities } from './local-calls.js';
import { ownStore, waveHere } from './policies.js';

const here = localActivities(waveHere);
const store = localActivities(ownStore);

/**
 * Tries the first orders of transfers that were accepted together, and books what the bank answers at once. What does
 * not end so gets a workflow of its own, as if it had come alone: it is `transfer/<transfer id>` that operators look
 * for, never this. The records decide; this run may be ended at any moment. Its id is `wave/<first transfer's id>`.
 */
export async function transferWave(input: TransferWaveInput): Promise<void> {
  await CancellationScope.nonCancellable(() =>
    here.letOutWave(input).catch(() => store.handOverWave(input)),
  );
  setCurrentDetails('Done: every transfer has ended, or has a workflow of its own.');
}
