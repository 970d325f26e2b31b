import { cancellationSignal } from '@temporalio/activity';
import type { Ledger } from '../src/core/ledger/index.js';
import type {
  LedgerClosingStep,
  LedgerClosingStepInput,
} from '../src/core/ledger/workflow-contract.js';
import { withHeartbeats } from './heartbeats.js';

/** Parts that the activities of the ledger need. */
export type LedgerActivityDeps = { ledger: Pick<Ledger, 'closeDays'> };

/** The activities of the ledger. Their names are in histories, so they never change. */
export function createLedgerActivities({ ledger }: LedgerActivityDeps) {
  return {
    /** Closes days of the ledger that are over, for some time. */
    closeLedgerDays: async (input: LedgerClosingStepInput): Promise<LedgerClosingStep> => {
      const signal = cancellationSignal();
      return withHeartbeats(() => ledger.closeDays(input, () => signal.throwIfAborted()));
    },
  };
}
