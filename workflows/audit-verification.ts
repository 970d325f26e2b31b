import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AuditVerification } from '../src/core/audit/workflow-contract.js';
import { auditVerificationRun } from './policies.js';

const { verifyAuditLog } = proxyActivities<Activities>(auditVerificationRun);

/** Follows the chain of the audit log. A Schedule starts it every day; its id is `audit-verification/<queue>`. */
export async function auditVerification(): Promise<AuditVerification> {
  return verifyAuditLog();
}
