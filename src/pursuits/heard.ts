import type { CallTrace, InitiateAnswer, VerifyAnswer } from '../providers/provider.js';
import type { CallReport } from './reports.js';

/** Explicitly not done, for a reason that passes. */
type RefusedForNow = CallTrace & { kind: 'refused_for_now'; code: string };

/**
 * A provider's answer as a capability hands it on. `report`: what it came to, where the capability has dealt with it
 * itself; `unsent` is said for it from the record.
 */
export type Heard = (InitiateAnswer | VerifyAnswer | RefusedForNow) & {
  report?: 'unsent' | Extract<CallReport, { kind: 'pending' | 'disputed' }>;
};
