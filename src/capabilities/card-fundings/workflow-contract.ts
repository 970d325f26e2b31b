import type { OperationInput } from '../cards/workflow-contract.js';

/** As in core/instructions/workflow-contract.ts, nothing of persons may be added here. */
export type FundingInput = OperationInput & {
  /** Of a just-in-time funding. */
  deadlineAtMs: number | null;
};

/** How a just-in-time funding stands: whether its deadline can do nothing to it any more, and who unwinds it. */
export type ExpireFundingResult = { over: boolean; fundReversal: string | null };
