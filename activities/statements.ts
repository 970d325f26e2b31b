import { cancellationSignal } from '@temporalio/activity';
import type { CallRates } from '../src/core/providers/call-rates.js';
import type { ReconciliationRuns } from '../src/core/reconciliation/last-runs.js';
import {
  readStatementPage,
  type StatementDaysDeps,
} from '../src/core/reconciliation/statement-days.js';
import type {
  StatementPageInput,
  StatementPageResult,
} from '../src/core/reconciliation/workflow-contract.js';
import { withHeartbeats } from './heartbeats.js';
import { noteAnswers } from './provider-result.js';

/** Parts that the reading of statements needs. */
export type StatementActivityDeps = Omit<StatementDaysDeps, 'callRates' | 'answered' | 'clock'> & {
  callRates: Pick<CallRates, 'takeWithin' | 'answered'>;
  reconciliationRuns: Pick<ReconciliationRuns, 'noteEnd'>;
};

/** The activity that reads statements of providers. Its name is in histories, so it never changes. */
export const createStatementActivities = (deps: StatementActivityDeps) => ({
  /** Reads a page of a provider's own statements. After the last one of a day, it compares the day with the ledger. */
  reconcileStatements: (input: StatementPageInput): Promise<StatementPageResult> =>
    withHeartbeats(async () => {
      const parts = { ...deps, answered: noteAnswers(deps.callRates) };
      const page = await readStatementPage(parts, input, cancellationSignal());
      if (page.position === null && !page.missed) {
        await deps.reconciliationRuns.noteEnd({ kind: 'statements', provider: input.provider });
      }
      return page;
    }),
});
