import {
  addTo,
  auditPages,
  type RecordAudit,
  type RecordPage,
} from '../../core/ledger/audit-checks.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { cardAuthorizations, type CardAuthorization } from '../card-authorizations/record.js';
import { balanceAfter } from './facts.js';
import { cardDisputes, returnableOf, isCounted, type CardDispute } from './record.js';

/**
 * Audits disputes of card payments: each follows from its facts, and every payment counts what its disputes are about and
 * what they have given. The audit of authorizations compares the latter with the postings.
 */
export const auditCardDisputes: RecordAudit = {
  pages: [
    auditPages(cardDisputes, ({ records }) => records.flatMap(checkDispute)),
    auditPages(cardAuthorizations, checkAuthorizations),
  ],
};

function checkDispute({ _id: id, status, credited_minor: credited, facts }: CardDispute): string[] {
  const expected = balanceAfter(facts);
  return status === expected.status && credited === expected.creditedMinor
    ? []
    : [
        `${id} is ${status} with ${credited}, its facts say ${expected.status} with ${expected.creditedMinor}`,
      ];
}

async function checkAuthorizations({
  collections,
  session,
  records,
}: RecordPage<CardAuthorization>) {
  const disputed = new Map<string, bigint>();
  const credited = new Map<string, bigint>();
  const returnable = new Map<string, bigint>();
  const theirs = collections
    .records(cardDisputes)
    .find(
      { authorization_id: { $in: records.map(({ _id }) => _id) } },
      { session, ...acrossTenants('report') },
    );
  for await (const dispute of theirs) {
    addTo(credited, dispute.authorization_id, dispute.credited_minor);
    addTo(returnable, dispute.authorization_id, returnableOf(dispute));
    if (isCounted(dispute)) addTo(disputed, dispute.authorization_id, dispute.amount_minor);
  }
  return records.flatMap((one) => {
    const { _id: id, disputed_minor: ofAll, credited_minor: given, returnable_minor: open } = one;
    const sums = [
      ['disputed', ofAll, disputed],
      ['credited', given, credited],
      ['returnable', open, returnable],
    ] as const;
    return sums.flatMap(([what, counted = 0n, sum]) => {
      const minor = sum.get(id) ?? 0n;
      return counted === minor ? [] : [`${id} counts ${counted} ${what}, its disputes ${minor}`];
    });
  });
}
