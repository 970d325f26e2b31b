import { Counter, Histogram, type Registry } from 'prom-client';
import type { GroupCommit } from '../core/commit/group-commit.js';

const BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 28_800, 86_400];
const ENDS = new Set(['completed', 'failed']);

/** The fields of an instruction that its outcome is measured by. */
type Instruction = { status: string; provider: string; submissions: number; created_at: Date };

/** True if a commit has given this record its first outcome. */
export const isOutcome = (before: object | undefined, { status }: Instruction): boolean =>
  ENDS.has(status) && !(before && isInstruction(before) && ENDS.has(before.status));

/**
 * Registers counts of outcomes, and the time from acceptance to them. A record that leaves one end for another, such as a
 * completed one that is reversed, is counted again and not timed.
 */
export function measureOutcomes(registry: Registry, commit: Pick<GroupCommit, 'onChanged'>): void {
  const registers = [registry];
  const total = new Counter({
    name: 'bursar_outcomes_total',
    help: 'Records that this process has committed as completed or failed.',
    labelNames: ['collection', 'provider', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'bursar_time_to_final_seconds',
    help: 'Time from the acceptance of a record to its outcome.',
    labelNames: ['collection', 'provider'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  commit.onChanged((changes) => {
    for (const { collection, before, after } of changes) {
      if (!isInstruction(after) || !ENDS.has(after.status)) continue;
      const { status: outcome, provider, created_at: createdAt } = after;
      const earlier = before && isInstruction(before) ? before.status : null;
      if (earlier === outcome) continue;
      total.inc({ collection, provider, outcome });
      if (earlier !== null && ENDS.has(earlier)) continue;
      duration.observe(
        { collection, provider },
        Math.max(0, (Date.now() - createdAt.getTime()) / 1000),
      );
    }
  });
}

/** True for the record of an instruction. */
export function isInstruction(record: object): record is Instruction {
  const { status, provider, submissions, created_at: at } = record as Partial<Instruction>;
  return (
    typeof status === 'string' &&
    typeof provider === 'string' &&
    typeof submissions === 'number' &&
    at instanceof Date
  );
}
