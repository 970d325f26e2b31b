import { checkPayment, heldByOpen } from '../../core/outgoing-payments/audit.js';
import { auditPages, type RecordAudit } from '../../core/ledger/audit-checks.js';
import { billPayments } from './record.js';

/** Checks that every bill payment has the postings of its state and no others. */
export const auditBillPayments: RecordAudit = {
  pages: [
    auditPages(billPayments, ({ records }) =>
      records.flatMap((payment) => checkPayment(payment, 'bill payment')),
    ),
  ],
  tenant: async (books) => ({ problems: [], held: await heldByOpen(books, billPayments) }),
};
