import {
  addTo,
  auditPages,
  checkLegs,
  checkSteps,
  type RecordAudit,
  type RecordPage,
  type RecordWithPostings,
  type Steps,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { charges, type Charge } from '../charges/record.js';
import { disputes, type Dispute } from './record.js';
import { openPosting, takePosting, wonPosting } from './postings.js';

/** Checks that every dispute has the postings of its state and no others, and that charges count their disputes. */
export const auditDisputes: RecordAudit = {
  pages: [
    auditPages(disputes, ({ records }) => records.flatMap(checkDispute)),
    auditPages(charges, checkCharges),
  ],
};

/** Returns the problems of a dispute with its postings. */
export function checkDispute(dispute: Dispute & RecordWithPostings): string[] {
  if (dispute.operator_decisions !== undefined) return checkDecided(dispute);
  const opened = (account: string) =>
    dispute.postings
      .filter(({ _id }) => _id === `${dispute._id}/open`)
      .flatMap(({ legs }) => legs)
      .find((leg) => leg.account === account)?.amount_minor ?? 0n;
  const takenAtOnce = opened(accounts.clearing(dispute.provider)) > 0n;
  const owedMinor = -opened(accounts.receivable(dispute.tenant_id));
  const repaid = dispute.postings
    .filter(({ _id }) => _id === `${dispute._id}/won`)
    .flatMap(({ legs }) => legs)
    .find((leg) => leg.account === accounts.receivable(dispute.tenant_id));
  const at = dispute.created_at;
  const funds = takenAtOnce ? ('taken' as const) : ('with_us' as const);
  return [
    ...checkSteps(dispute, stepsOf(dispute, takenAtOnce)),
    ...checkLegs(
      dispute,
      {
        open: openPosting(dispute, at, { funds, owedMinor }),
        take: takePosting(dispute, at),
        won: wonPosting(dispute, at, {
          funds: dispute.funds,
          repaidMinor: repaid?.amount_minor ?? 0n,
        }),
      },
      'dispute',
    ),
  ];
}

/** An operator has decided it: its steps may be several, and their sums are those of the decision. */
function checkDecided(dispute: Dispute & RecordWithPostings): string[] {
  const {
    _id: id,
    status,
    provider,
    amount_minor: amountMinor,
    operator_decisions: count,
  } = dispute;
  const decided = Array.from({ length: count ?? 0 }, (_, i) => `decided-${i + 1}`);
  const sumOf = (account: string) =>
    dispute.postings
      .flatMap(({ legs }) => legs)
      .filter((leg) => leg.account === account)
      .reduce((sum, { amount_minor: minor }) => sum + minor, 0n);
  const lostMinor = status === 'lost' ? amountMinor : 0n;
  const isRight =
    sumOf(accounts.clearing(provider)) === lostMinor && sumOf(accounts.disputes(provider)) === 0n;
  return [
    ...checkSteps(dispute, { must: ['open', ...decided], may: ['take', 'won'] }),
    ...(isRight ? [] : [`the postings of ${id} are not those of a ${status} dispute`]),
  ];
}

function stepsOf({ status, funds }: Dispute, takenAtOnce: boolean): Steps {
  const take = funds === 'taken' && !takenAtOnce ? ['take'] : [];
  return { must: ['open', ...take, ...(status === 'won' ? ['won'] : [])], may: [] };
}

/** Compares the disputed amount that charges count with their disputes. */
async function checkCharges({ collections, session, records }: RecordPage<Charge>) {
  const disputed = new Map<string, bigint>();
  const theirs = collections.records(disputes).find(
    {
      charge_id: { $in: records.map(({ _id }) => _id) },
      status: { $in: ['open', 'lost'] },
    },
    { session, ...acrossTenants('report') },
  );
  for await (const { charge_id: charge, amount_minor: amountMinor } of theirs) {
    addTo(disputed, charge, amountMinor);
  }
  return records.flatMap(({ _id: id, disputed_minor: counted }) => {
    const minor = disputed.get(id) ?? 0n;
    return counted === minor ? [] : [`${id} counts ${counted} disputed, its disputes are ${minor}`];
  });
}
