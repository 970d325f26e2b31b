/**
 * The result of `auditVerification`: the entries of the audit log, the problems of its chain, and the number and hash of the last
 * entry that had no problem before it.
 */
export type AuditVerification = {
  entries: number;
  problems: number;
  sequence: number;
  hash: string;
};

/** Id of the Schedule and of its workflow. */
export const auditVerificationId = (taskQueue: string): string => `audit-verification/${taskQueue}`;
