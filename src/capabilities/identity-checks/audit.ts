import { auditPages, type RecordAudit } from '../../core/ledger/audit-checks.js';
import { isOpen, needsWorkflow } from '../../core/instructions/instruction.js';
import { identityChecks, type IdentityCheck } from './record.js';

/** Checks that an open check has its sealed subject, that an ended one has none, and that nobody has forgotten a check. */
export const auditIdentityChecks: RecordAudit = {
  pages: [auditPages(identityChecks, ({ records }) => records.flatMap(auditCheck))],
};

function auditCheck(check: IdentityCheck): string[] {
  const { _id: id, status, sealed } = check;
  const problems: string[] = [];
  if (isOpen(check) && sealed === null) problems.push(`${id} is ${status} and has no number`);
  if (!isOpen(check) && sealed !== null) problems.push(`${id} is ${status} and keeps its number`);
  if (needsWorkflow(check) && check.next_check_at === null) {
    problems.push(`${id} is ${status} and has no next check`);
  }
  return problems;
}
