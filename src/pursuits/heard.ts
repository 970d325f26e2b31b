import type { InitiateAnswer, VerifyAnswer } from '../providers/provider.js';
import type { CallReport } from './reports.js';

/**
 * A provider's answer as a capability hands it on. `report`: what it came to, where the capability has dealt with it
 * itself; `unsent` is said for it from the record.
 */
export type Heard = (InitiateAnswer | VerifyAnswer) & {
  report?: 'unsent' | Extract<CallReport, { kind: 'pending' | 'disputed' }>;
};
