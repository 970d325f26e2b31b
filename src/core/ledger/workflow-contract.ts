/** Counts of a run of `ledgerClosing`: days that were closed, and days that it refused to close. */
export type LedgerClosingCounts = { closed: number; refused: number };

/** Input of one step: the tenants after this id are left, and `counts` are those of the steps before. */
export type LedgerClosingStepInput = { after: string; counts?: LedgerClosingCounts };

/** The result of one step. Without `next`, no day is left. */
export type LedgerClosingStep = { counts: LedgerClosingCounts; next: string | null };

/** Input of `ledgerClosing`: the position and the counts of earlier runs of the same closing. */
export type LedgerClosingInput = LedgerClosingStepInput & { counts: LedgerClosingCounts };

/** Id of the Schedule and of its workflow. */
export const ledgerClosingId = (taskQueue: string): string => `ledger-closing/${taskQueue}`;
