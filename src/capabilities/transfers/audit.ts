import { checkPayment, heldByOpen } from '../../core/outgoing-payments/audit.js';
import {
  auditPages,
  type RecordAudit,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import { countsOf, countRecords, type CountChange } from './counts.js';
import { transfers } from './record.js';

/** Checks that every transfer has the postings of its state and no others, and that the counts equal the records. */
export const auditTransfers: RecordAudit = {
  pages: [
    auditPages(transfers, ({ records }) =>
      records.flatMap((each) => checkPayment(each, 'transfer')),
    ),
  ],
  tenant: auditTenant,
};

async function auditTenant(books: TenantBooks): Promise<TenantAudit> {
  const held = await heldByOpen(books, transfers);
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
