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
import { charges, type Charge } from '../charges/charge.js';
import { disputes, type Dispute } from './dispute.js';
import { openPosting, takePosting, wonPosting } from './postings.js';

/** Checks that every dispute has the postings of its state and no others, and that charges count their disputes. */
export const auditDisputes: RecordAudit = {
  pages: [
    auditPages(disputes, ({ records }) => records.flatMap(checkDispute)),
    auditPages(charges, checkCharges),
  ],
};

function checkDispute(dispute: Dispute & RecordWithPostings): string[] {
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
