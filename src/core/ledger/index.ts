import { ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import type { Db } from 'mongodb';
import type { Config } from '../../shared/config.js';
import type { Log } from '../../shared/log.js';
import { keepSchedule } from '../../platform/temporal/schedules.js';
import { closeDueDays } from './closing.js';
import { lastClosingRun, noteClosingRun } from './closing-runs.js';
import {
  ledgerClosingId,
  type LedgerClosingCounts,
  type LedgerClosingInput,
  type LedgerClosingStep,
  type LedgerClosingStepInput,
} from './workflow-contract.js';

/** A step ends after this time, so that the workflow knows its position and a worker that drains does not wait. */
const STEP_MS = 20_000;

const NOTHING: LedgerClosingCounts = { closed: 0, refused: 0 };

/** The ledger's closings, as the worker makes them. */
export type Ledger = ReturnType<typeof createLedger>;

/** Connects the closings of the ledger. */
export function createLedger({
  db,
  client,
  config: {
    ledger: { closingEveryMs: every },
    temporal: { taskQueue },
  },
  log,
}: {
  db: Db;
  client: Client;
  config: Pick<Config, 'ledger' | 'temporal'>;
  log: Log;
}) {
  return {
    /** The last run of any process, for the metrics. */
    lastRun: () => lastClosingRun(db),

    /** Makes the Schedule of the closings agree with the settings. A run closes all days that are due. */
    async keepSchedule(): Promise<void> {
      const input: LedgerClosingInput = { after: '', counts: NOTHING };
      const options = {
        spec: { intervals: [{ every }] },
        action: {
          type: 'startWorkflow' as const,
          workflowType: 'ledgerClosing',
          workflowId: ledgerClosingId(taskQueue),
          taskQueue,
          args: [input],
          staticSummary: 'closes the days of the ledger that are over',
        },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: every },
      };
      await keepSchedule(client, ledgerClosingId(taskQueue), every === 0 ? null : options);
    },

    /** Closes days for about `STEP_MS`. A repeated step closes nothing twice. */
    async closeDays(
      { after, counts: before = NOTHING }: LedgerClosingStepInput,
      onProgress: () => void,
    ): Promise<LedgerClosingStep> {
      const end = performance.now() + STEP_MS;
      const isOver = () => performance.now() > end;
      const { closed, refused, next } = await closeDueDays(db, after, { onProgress, isOver });
      if (next === null) {
        await noteClosingRun(db, {
          closed: before.closed + closed,
          refused: before.refused + refused.length,
        });
      }
      for (const day of refused) {
        log.error({ day }, 'ledger day not closed: it has postings that do not balance');
      }
      return { counts: { closed, refused: refused.length }, next };
    },
  };
}
