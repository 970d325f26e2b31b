import type { CallTrace, SubmitAnswer, VerifyAnswer } from '../providers/transfer-provider.js';
import type { ProviderCallResult } from './workflow-contract.js';

/** Explicitly not executed, for a temporary reason. */
type RejectedTemporarily = CallTrace & {
  kind: 'rejected_temporarily';
  code: string;
  afterMs?: number;
};

/**
 * A provider's answer, as a capability returns it. `result` is set if the capability has decided the result itself; for
 * `not_submitted` the counts are added from the record. `unlessFailed` is explained at `InstructionFact`. `handle`: the provider's id
 * of what was submitted.
 */
export type ProviderOutcome = (SubmitAnswer | VerifyAnswer | RejectedTemporarily) & {
  result?: 'not_submitted' | Extract<ProviderCallResult, { kind: 'pending' | 'mismatch' }>;
  unlessFailed?: true;
  handle?: string;
};
