import { charges, reversibleMinorOf, type Charge } from '../charges/record.js';
import {
  STEPS_OF_HELD,
  addTo,
  auditPages,
  checkLegs,
  checkSteps,
  wasCaptured,
  type RecordAudit,
  type RecordPage,
  type RecordWithPostings,
  type Steps,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import {
  accounts,
  capturePosting,
  holdPosting,
  releasePosting,
  unspentOf,
} from '../../core/ledger/posting.js';
import { isOpen, needsWorkflow } from '../../core/instructions/instruction.js';
import { DESK_REFUND, holdOf } from './postings.js';
import { refunds, type Refund } from './record.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';

/** Checks that every refund has the postings of its state and no others, and that charges count their refunds. */
export const auditRefunds: RecordAudit = {
  pages: [auditPages(refunds, checkRefunds), auditPages(charges, checkCharges)],
  tenant: auditTenant,
};

async function checkRefunds(page: RecordPage<Refund>): Promise<string[]> {
  const { collections, session, records } = page;
  const found = await collections
    .records(charges)
    .find(
      { _id: { $in: records.map((refund) => refund.charge_id) } },
      { session, projection: { _id: 1 }, ...acrossTenants('report') },
    )
    .toArray();
  const known = new Set(found.map(({ _id }) => _id));
  return records.flatMap((refund) => [
    ...checkRefund(refund),
    ...(known.has(refund.charge_id) ? [] : [`${refund.charge_id} has refunds and is not there`]),
  ]);
}

function checkRefund(refund: Refund & RecordWithPostings): string[] {
  const problems = [
    ...checkSteps(refund, stepsOfRefund(refund)),
    ...checkLegs(refund, expectedOf(refund), 'refund'),
  ];
  if (needsWorkflow(refund) && refund.next_check_at === null) {
    problems.push(`${refund._id} is ${refund.status} and has no next check`);
  }
  return problems;
}

/** A refund that was made at the provider has held nothing. */
function stepsOfRefund({ made_by: by, status }: Refund): Steps {
  if (by === 'tenant') return STEPS_OF_HELD[status];
  if (by === 'operator') {
    // The charge has the postings of the return itself.
    return { must: [], may: ['suspense', 'suspense-reversal', 'suspense-debit', 'reversal'] };
  }
  return { must: [DESK_REFUND, ...(status === 'failed' ? ['reversal'] : [])], may: [] };
}

/** The postings of the hold and of its end. */
function expectedOf(refund: Refund & RecordWithPostings) {
  const hold = holdOf(refund);
  const end = wasCaptured(refund) ? capturePosting : releasePosting;
  return { hold: holdPosting(hold), resolve: end(hold, refund.created_at) };
}

/** Compares what charges count with their refunds. */
async function checkCharges({ collections, session, records }: RecordPage<Charge>) {
  const refunded = new Map<string, bigint>();
  const refunding = new Map<string, bigint>();
  const late = new Set(records.flatMap(({ late_returns: returns = [] }) => returns));
  const theirs = collections
    .records(refunds)
    .find(
      { charge_id: { $in: records.map(({ _id }) => _id) } },
      { session, ...acrossTenants('report') },
    );
  for await (const refund of theirs) {
    const { charge_id: charge, amount_minor: amountMinor, status } = refund;
    if (refund.made_by === 'operator' && !late.has(refund._id)) continue;
    if (isOpen(refund) || refund.in_suspense) addTo(refunding, charge, amountMinor);
    const counted = amountMinor - unspentOf(holdOf(refund));
    if (status === 'completed') addTo(refunded, charge, counted);
  }
  return records.flatMap((charge) =>
    checkCharge(charge, refunded.get(charge._id) ?? 0n, refunding.get(charge._id) ?? 0n),
  );
}

/** Returns the problems of a charge whose refunds are these: made, and under way. */
export function checkCharge(charge: Charge, done: bigint, under: bigint): string[] {
  const { _id: id, status } = charge;
  const problems: string[] = [];
  if (charge.refunded_minor !== done || charge.refund_pending_minor !== under) {
    problems.push(
      `${id} counts ${charge.refunded_minor} refunded and ${charge.refund_pending_minor} under way, ` +
        `its refunds are ${done} and ${under}`,
    );
  }
  if (done > reversibleMinorOf(charge)) problems.push(`${id} is refunded beyond its amount`);
  if (done + under > 0n && status !== 'completed') {
    problems.push(`${id} is ${status} and refunded`);
  }
  return problems;
}

async function auditTenant({ collections, session, tenantId }: TenantBooks): Promise<TenantAudit> {
  const held = new Map<string, bigint>();
  const open = collections.records(refunds).find(
    {
      tenant_id: tenantId,
      status: { $in: ['pending', 'processing'] },
      made_by: { $ne: 'operator' },
    },
    { session, projection: { amount_minor: 1 } },
  );
  for await (const { amount_minor: amountMinor } of open) {
    addTo(held, accounts.held(tenantId), amountMinor);
  }
  return { problems: [], held };
}
