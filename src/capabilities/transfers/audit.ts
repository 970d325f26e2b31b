import { capturePosting, holdPosting, releasePosting } from '../../core/ledger/hold-postings.js';
import {
  STEPS_OF_HELD,
  addTo,
  checkLegs,
  checkSteps,
  wasCaptured,
  withPostings,
  type AuditResult,
  type RecordWithPostings,
  type LedgerSnapshot,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { countsOf, countRecords, type CountChange } from './counts.js';
import { holdOf } from './postings.js';
import { transfers, type Transfer } from './transfer.js';

/** Checks that every transfer has the postings of its state and no others, and that the counts equal the records. */
export async function auditTransfers(snapshot: LedgerSnapshot): Promise<AuditResult> {
  const problems = await checkCounts(snapshot);
  const held = new Map<string, bigint>();
  let count = 0;
  for await (const transfer of withPostings(snapshot.collections.records(transfers), snapshot)) {
    count += 1;
    problems.push(...checkSteps(transfer, STEPS_OF_HELD[transfer.status]));
    problems.push(...checkLegs(transfer, expectedOf(transfer), 'transfer'));
    if (isOpen(transfer)) addTo(held, accounts.held(transfer.tenant_id), transfer.total_minor);
  }
  return { counts: { transfers: count }, problems, held };
}

/** The postings of the hold and of its end. */
function expectedOf(transfer: Transfer & RecordWithPostings) {
  const hold = holdOf(transfer);
  const end = wasCaptured(transfer) ? capturePosting : releasePosting;
  return { hold: holdPosting(hold), resolve: end(hold, transfer.created_at) };
}

/** Compares the counted totals of lists with the records. */
async function checkCounts({ db, session }: LedgerSnapshot): Promise<string[]> {
  const counts = countsOf(db);
  const records = new Map(
    (await countRecords(db, session)).map((sum) => [dayOf(sum), describeCounts(sum)]),
  );
  const counted = new Map<string, string>();
  for await (const { _id, created, failed, days } of counts.find({}, { session })) {
    let [daysCreated, daysFailed] = [0n, 0n];
    for (const [day, sum] of Object.entries(days)) {
      counted.set(`${_id}-${day}`, describeCounts(sum));
      daysCreated += sum.created;
      daysFailed += sum.failed;
    }
    counted.set(_id, describeCounts({ created, failed }));
    records.set(_id, describeCounts({ created: daysCreated, failed: daysFailed }));
  }
  return [...new Set([...records.keys(), ...counted.keys()])]
    .filter((key) => records.get(key) !== counted.get(key))
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
