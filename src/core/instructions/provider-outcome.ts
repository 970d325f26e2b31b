import type { CallTrace, InitiateAnswer, VerifyAnswer } from '../providers/transfer-provider.js';
import type { ProviderCallResult } from './workflow-contract.js';

/** Explicitly not done, for a reason that passes. */
type RejectedTemporarily = CallTrace & { kind: 'rejected_temporarily'; code: string };

/**
 * A provider's answer as a capability hands it on. `report`: what it came to, where the capability has dealt with it
 * itself; `unsent` is said for it from the record.
 */
export type ProviderOutcome = (InitiateAnswer | VerifyAnswer | RejectedTemporarily) & {
  result?: 'not_submitted' | Extract<ProviderCallResult, { kind: 'pending' | 'mismatch' }>;
};
