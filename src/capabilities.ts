import { auditAuthorizations } from './capabilities/card-authorizations/audit.js';
import { auditCards } from './capabilities/cards/audit.js';
import { auditCharges } from './capabilities/charges/audit.js';
import { auditRefunds } from './capabilities/refunds/audit.js';
import { auditTransfers } from './capabilities/transfers/audit.js';
import type { RecordAudit } from './core/ledger/audit-checks.js';

/** Each capability's part of the ledger audit. */
export const audits: readonly RecordAudit[] = [
  auditTransfers,
  auditCards,
  auditAuthorizations,
  auditCharges,
  auditRefunds,
];
