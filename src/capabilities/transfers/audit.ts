import { checkPayment, heldByOpen } from '../../core/outgoing-payments/audit.js';
import { auditPages, type RecordAudit } from '../../core/ledger/audit-checks.js';
import { auditCounts } from '../../core/ledger/audit-counts.js';
import { LIST_INDEXES } from '../../core/instructions/listing.js';
import { transfers, transferMonthlyCounts, type CountsDocument } from './record.js';

/** Checks that every transfer has the postings of its state and no others, and that the counts equal the records. */
export const auditTransfers: RecordAudit = {
  pages: [
    auditPages(transfers, ({ records }) =>
      records.flatMap((each) => checkPayment(each, 'transfer')),
    ),
  ],
  tenant: async (books) => ({ problems: [], held: await heldByOpen(books, transfers) }),
  portions: {
    [transferMonthlyCounts.name]: auditCounts<CountsDocument>({
      name: transferMonthlyCounts.name,
      records: transfers.name,
      status: 'status',
      byStatus: LIST_INDEXES.byStatus,
      whole: ({ created, failed }) => ({ created, failed }),
      counted: (byStatus) => ({
        created: Object.values(byStatus).reduce((sum, count) => sum + count, 0n),
        failed: byStatus['failed'] ?? 0n,
      }),
    }),
  },
};
