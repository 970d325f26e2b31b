import { Counter, Histogram, type Registry } from 'prom-client';
import type { GroupCommit } from '../core/commit/group-commit.js';

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the size and the duration of the batches of group commit. */
export function measureCommits(registry: Registry, commit: Pick<GroupCommit, 'onBatch'>): void {
  const registers = [registry];
  const size = new Histogram({
    name: 'bursar_commit_batch_mutations',
    help: 'Mutations of one transaction.',
    buckets: SIZES,
    registers,
  });
  const duration = new Histogram({
    name: 'bursar_commit_duration_seconds',
    help: 'Time from the begin of a batch to its commit, with repeats after conflicts; failed: it was not committed, or its result is unknown.',
    labelNames: ['result'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const conflicts = new Counter({
    name: 'bursar_commit_conflicts_total',
    help: 'Transactions that were repeated because another process had changed the same documents.',
    registers,
  });
  commit.onBatch(({ mutations, seconds, conflicts: repeated, committed }) => {
    size.observe(mutations);
    duration.observe({ result: committed ? 'committed' : 'failed' }, seconds);
    conflicts.inc(repeated);
  });
}
