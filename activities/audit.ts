import type { AuditVerifications } from '../src/core/audit/verification.js';
import { withHeartbeats } from './heartbeats.js';

/** Parts that the activity of the audit log needs. */
export type AuditActivityDeps = { auditVerifications: Pick<AuditVerifications, 'run'> };

/** The activity of the audit log. Its name is in histories, so it never changes. */
export const createAuditActivities = ({ auditVerifications }: AuditActivityDeps) => ({
  /** Follows the chain of the audit log, and notes the result. */
  verifyAuditLog: () => withHeartbeats(() => auditVerifications.run()),
});
