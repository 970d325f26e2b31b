import type { OperationInput } from '../reports.js';

/** As in pursuits/reports.ts, nothing of persons may be added here. */
export type FundingInput = OperationInput & {
  /** Of a just-in-time funding. */
  deadlineAtMs: number | null;
};

/** How a just-in-time funding stands: whether its deadline can do nothing to it any more, and who unwinds it. */
export type ExpiryReport = { over: boolean; unwinding: string | null };
