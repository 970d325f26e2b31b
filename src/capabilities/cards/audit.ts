import {
  STEPS_OF_HELD,
  addTo,
  auditPages,
  checkLegs,
  checkSteps,
  stepsOf,
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
} from '../../core/ledger/posting.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { cards, type Card } from './record.js';
import {
  cardOperations,
  isFunding,
  type CardOperation,
  fundingHold,
  type Funding,
  PART_REVERSAL,
} from './card-operation.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';

/**
 * Audits cards and their operations: every operation has exactly the postings of its status. The audit of authorizations compares
 * the balances of cards, and the holds that they count.
 */
export const auditCards: RecordAudit = {
  pages: [
    auditPages(cards, ({ records }) => records.flatMap(checkCard)),
    auditPages(cardOperations, checkOperations),
  ],
  tenant: auditTenant,
};

/** Fundings of which the fund reversals are read at once. */
const FUNDINGS = 500;

/** The amount that open fundings hold in the wallet. From the deadline on, the hold of a funding belongs to its fund reversal. */
async function auditTenant({ collections, session, tenantId }: TenantBooks): Promise<TenantAudit> {
  const operations = collections.records(cardOperations);
  const held = new Map<string, bigint>();
  const add = (owners: readonly CardOperation[]) => {
    for (const { amount_minor: amountMinor } of owners) {
      addTo(held, accounts.held(tenantId), amountMinor ?? 0n);
    }
  };
  const addOwn = async (fundings: readonly CardOperation[]) => {
    const reversals = await fundReversalsOf(fundings, operations, session);
    const taken = new Set(reversals.map((each) => each.reverses_operation_id));
    add(fundings.filter(({ _id }) => !taken.has(_id)));
  };
  const open = operations.find(
    { tenant_id: tenantId, status: { $in: ['pending', 'processing'] } },
    { session, projection: { type: 1, card_id: 1, amount_minor: 1 } },
  );
  let fundings: CardOperation[] = [];
  for await (const each of open) {
    if (each.type === 'fund_reversal') add([each]);
    if (isFunding(each)) fundings.push(each);
    if (fundings.length < FUNDINGS) continue;
    await addOwn(fundings);
    fundings = [];
  }
  await addOwn(fundings);
  return { problems: [], held };
}

/** The fund reversals of these fundings, by the index of their cards. */
const fundReversalsOf = (
  fundings: readonly CardOperation[],
  operations: ReturnType<typeof recordsOf>,
  session: TenantBooks['session'],
) =>
  operations
    .find(
      {
        card_id: { $in: [...new Set(fundings.map((each) => each.card_id))] },
        type: 'fund_reversal',
        reverses_operation_id: { $in: fundings.map(({ _id }) => _id) },
      },
      { session, ...acrossTenants('report') },
    )
    .toArray();

const recordsOf = ({ collections }: Pick<TenantBooks, 'collections'>) =>
  collections.records(cardOperations);

function checkCard({ _id: id, status, issued }: Card): string[] {
  const usable = status !== 'pending' && status !== 'failed';
  return usable && issued === null ? [`${id} is ${status} and was never issued`] : [];
}

/** The balance is held on the card until the issuer has given it back, or has not. */
const UNLOAD_STEPS: Record<CardOperation['status'], Steps> = {
  pending: { must: ['hold'], may: [] },
  processing: { must: ['hold'], may: [] },
  completed: { must: ['hold', 'resolve'], may: ['late'] },
  failed: { must: ['hold', 'resolve'], may: ['late', 'reversal'] },
};

function checkUnload(operation: CardOperation & RecordWithPostings): string[] {
  const { card_id: card, status, postings, amount_minor: amountMinor } = operation;
  const held = postings
    .flatMap(({ legs }) => legs)
    .filter(({ account }) => account === accounts.cardHeld(card))
    .reduce((sum, leg) => sum + leg.amount_minor, 0n);
  const expected = isOpen(operation) ? (amountMinor ?? 0n) : 0n;
  const parts = postings.filter(({ _id }) => _id.startsWith(`${operation._id}/${PART_REVERSAL}`));
  const takenBack = parts
    .flatMap(({ legs }) => legs)
    .filter(({ account }) => account === accounts.cardAvailable(card))
    .reduce((sum, leg) => sum + leg.amount_minor, 0n);
  const taken = operation.taken_back_minor ?? 0n;
  const rest = { ...operation, postings: postings.filter((each) => !parts.includes(each)) };
  return [
    ...checkSteps(rest, UNLOAD_STEPS[status]),
    ...(takenBack === taken
      ? []
      : [`${operation._id}: ${taken} was taken back, its postings have ${takenBack}`]),
    ...(held === expected ? [] : [`${operation._id} holds ${expected}, its postings ${held}`]),
  ];
}

const NO_STEPS: Steps = { must: [], may: [] };

/** The hold must exist and end as the status says. A reversed funding may have ended either way before the reversal. */
function checkPostings(operation: CardOperation & RecordWithPostings): string[] {
  const { status, reversed_at: reversed, created_at: at } = operation;
  const funding = operation as Funding & RecordWithPostings;
  const debitedFromSuspense = stepsOf(operation).includes('suspense-debit');
  const captured = status === 'completed' && !debitedFromSuspense;
  const hold = fundingHold(funding);
  const resolve = captured ? capturePosting(hold, at) : releasePosting(hold, at);
  const sure = isOpen(operation) || (status === 'failed' && reversed !== null) ? {} : { resolve };
  return checkLegs(operation, { hold: holdPosting(hold), ...sure }, 'funding');
}

/** A funding as it ends: after its deadline as its fund reversal does. */
type End = Pick<CardOperation, 'status' | 'reversed_at' | 'settled_amount_minor'>;

/** The problems of a funding: it must have the postings of its end and no others. */
export function checkFunding(operation: CardOperation & RecordWithPostings, end: End): string[] {
  const { status, reversed_at, settled_amount_minor = null } = end;
  const ended = { ...operation, status, reversed_at, settled_amount_minor };
  return [...checkSteps(ended, STEPS_OF_HELD[status]), ...checkPostings(ended)];
}

async function checkOperations(page: RecordPage<CardOperation>): Promise<string[]> {
  const fundings = page.records.filter(isFunding);
  const reversals = new Map(
    (await fundReversalsOf(fundings, recordsOf(page), page.session)).map((each) => [
      each.reverses_operation_id,
      each,
    ]),
  );
  return page.records.flatMap((operation) => {
    if (operation.type === 'unload') return checkUnload(operation);
    return isFunding(operation)
      ? checkFunding(operation, reversals.get(operation._id) ?? operation)
      : checkSteps(operation, NO_STEPS);
  });
}
