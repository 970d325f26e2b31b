import { capturePosting, holdPosting, releasePosting } from '../../core/ledger/hold-postings.js';
import { charges } from '../charges/charge.js';
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
import { isOpen, needsWorkflow } from '../../core/instructions/instruction.js';
import { holdOf } from './postings.js';
import { refunds, type Refund } from './refund.js';

type Sums = { refunded: Map<string, bigint>; refunding: Map<string, bigint> };

/** Checks that every refund has the postings of its state and no others, and that charges count their refunds. */
export async function auditRefunds(snapshot: LedgerSnapshot): Promise<AuditResult> {
  const problems: string[] = [];
  const held = new Map<string, bigint>();
  const sums: Sums = { refunded: new Map(), refunding: new Map() };
  let count = 0;
  for await (const refund of withPostings(snapshot.collections.records(refunds), snapshot)) {
    count += 1;
    const { charge_id: charge, amount_minor: amountMinor, status } = refund;
    problems.push(...checkSteps(refund, STEPS_OF_HELD[status]));
    problems.push(...checkLegs(refund, expectedOf(refund), 'refund'));
    if (needsWorkflow(refund) && refund.next_check_at === null) {
      problems.push(`${refund._id} is ${status} and has no next check`);
    }
    if (isOpen(refund)) addTo(held, accounts.held(refund.tenant_id), amountMinor);
    if (isOpen(refund) || refund.in_suspense) addTo(sums.refunding, charge, amountMinor);
    if (status === 'completed') addTo(sums.refunded, charge, amountMinor);
  }
  problems.push(...(await checkCharges(snapshot, sums)));
  return { counts: { refunds: count }, problems, held };
}

/** The postings of the hold and of its end. */
function expectedOf(refund: Refund & RecordWithPostings) {
  const hold = holdOf(refund);
  const end = wasCaptured(refund) ? capturePosting : releasePosting;
  return { hold: holdPosting(hold), resolve: end(hold, refund.created_at) };
}

async function checkCharges(
  { collections, session }: LedgerSnapshot,
  { refunded, refunding }: Sums,
): Promise<string[]> {
  const problems: string[] = [];
  const unseen = new Set([...refunded.keys(), ...refunding.keys()]);
  const found = collections.records(charges).find({}, { session, projection: { timeline: 0 } });
  for await (const charge of found) {
    const { _id: id, status, amount_minor: amountMinor } = charge;
    unseen.delete(id);
    const [done, under] = [refunded.get(id) ?? 0n, refunding.get(id) ?? 0n];
    if (charge.refunded_minor !== done || charge.refund_pending_minor !== under) {
      problems.push(
        `${id} counts ${charge.refunded_minor} refunded and ${charge.refund_pending_minor} under way, ` +
          `its refunds are ${done} and ${under}`,
      );
    }
    if (done > amountMinor) problems.push(`${id} is refunded beyond its amount`);
    if (done + under > 0n && status !== 'completed')
      problems.push(`${id} is ${status} and refunded`);
  }
  return [...problems, ...[...unseen].map((id) => `${id} has refunds and is not there`)];
}
