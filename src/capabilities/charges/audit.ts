import {
  checkLegs,
  checkSteps,
  withPostings,
  type AuditResult,
  type RecordWithPostings,
  type LedgerSnapshot,
  type Steps,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { needsWorkflow } from '../../core/instructions/instruction.js';
import { charges, type Charge } from './charge.js';
import { creditPosting } from './postings.js';

/** A charge is credited when it is completed, once, and never otherwise. */
const STEPS: Record<Charge['status'], Steps> = {
  pending: { must: [], may: [] },
  processing: { must: [], may: [] },
  completed: { must: ['credit'], may: [] },
  failed: { must: [], may: [] },
};

/** Checks that every charge has the postings of its state and no others, and a next check while it needs a workflow. */
export async function auditCharges(snapshot: LedgerSnapshot): Promise<AuditResult> {
  const problems: string[] = [];
  let count = 0;
  for await (const charge of withPostings(snapshot.collections.records(charges), snapshot)) {
    count += 1;
    problems.push(...checkSteps(charge, STEPS[charge.status]));
    problems.push(...checkLegs(charge, { credit: expectedCredit(charge) }, 'charge'));
    if (needsWorkflow(charge) && charge.next_check_at === null) {
      problems.push(`${charge._id} is ${charge.status} and has no next check`);
    }
  }
  return { counts: { charges: count }, problems, held: new Map() };
}

/** The receivable at the time of the credit is known only from the posting itself. */
function expectedCredit(charge: Charge & RecordWithPostings) {
  const owed = accounts.receivable(charge.tenant_id);
  const legs = charge.postings.flatMap((posting) => posting.legs);
  const repaid = legs.find(({ account }) => account === owed)?.amount_minor ?? 0n;
  return creditPosting(charge, charge.created_at, repaid);
}
