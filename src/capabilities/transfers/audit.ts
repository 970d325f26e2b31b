import { capturePosting, holdPosting, releasePosting } from '../../core/ledger/hold-postings.js';
import {
  STEPS_OF_HELD,
  addTo,
  auditPages,
  checkLegs,
  checkSteps,
  wasCaptured,
  type RecordAudit,
  type RecordWithPostings,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { countsOf, countRecords, type CountChange } from './counts.js';
import { holdOf } from './postings.js';
import { LIST_INDEXES, OPEN, transfers, type Transfer } from './transfer.js';

/** Checks that every transfer has the postings of its state and no others, and that the counts equal the records. */
export const auditTransfers: RecordAudit = {
  pages: [auditPages(transfers, ({ records }) => records.flatMap(checkTransfer))],
  tenant: auditTenant,
};

const checkTransfer = (transfer: Transfer & RecordWithPostings): string[] => [
  ...checkSteps(transfer, STEPS_OF_HELD[transfer.status]),
  ...checkLegs(transfer, expectedOf(transfer), 'transfer'),
];

/** The postings of the hold and of its end. */
function expectedOf(transfer: Transfer & RecordWithPostings) {
  const hold = holdOf(transfer);
  const end = wasCaptured(transfer) ? capturePosting : releasePosting;
  return { hold: holdPosting(hold), resolve: end(hold, transfer.created_at) };
}

async function auditTenant(books: TenantBooks): Promise<TenantAudit> {
  const { collections, session, tenantId } = books;
  const held = new Map<string, bigint>();
  const open = collections
    .records(transfers)
    .find(
      { tenant_id: tenantId, status: { $in: OPEN } },
      { session, hint: LIST_INDEXES.byStatus, projection: { total_minor: 1 } },
    );
  for await (const { total_minor: total } of open) addTo(held, accounts.held(tenantId), total);
  return { problems: await checkCounts(books), held };
}

/** Compares the counted totals of lists with the records. */
async function checkCounts({ db, session, tenantId }: TenantBooks): Promise<string[]> {
  const counts = countsOf(db);
  const records = new Map(
    (await countRecords(db, { tenantId, session })).map((sum) => [dayOf(sum), describeCounts(sum)]),
  );
  const counted = new Map<string, string>();
  // '0' is the character after '/': every month of this tenant only.
  const months = counts.find({ _id: { $gte: `${tenantId}/`, $lt: `${tenantId}0` } }, { session });
  for await (const { _id, created, failed, days } of months) {
    let [daysCreated, daysFailed] = [0n, 0n];
    for (const [day, sum] of Object.entries(days)) {
      counted.set(`${_id}-${day}`, describeCounts(sum));
      daysCreated += sum.created;
      daysFailed += sum.failed;
    }
    counted.set(_id, describeCounts({ created, failed }));
    records.set(_id, describeCounts({ created: daysCreated, failed: daysFailed }));
  }
  // The counts of archived transfers were subtracted, which leaves zeros.
  return [...new Set([...records.keys(), ...counted.keys()])]
    .filter((key) => (records.get(key) ?? NONE) !== (counted.get(key) ?? NONE))
    .map((key) => `${key} counts ${counted.get(key)}, the records are ${records.get(key)}`);
}

const dayOf = ({ tenantId, day }: CountChange) => `${tenantId}/${day}`;
const describeCounts = ({
  created,
  failed,
}: {
  created: number | bigint;
  failed: number | bigint;
}) => `${created} created and ${failed} failed`;
const NONE = describeCounts({ created: 0, failed: 0 });
