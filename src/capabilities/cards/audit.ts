import { capturePosting, holdPosting, releasePosting } from '../../core/ledger/hold-postings.js';
import {
  STEPS_OF_HELD,
  addTo,
  checkLegs,
  checkSteps,
  stepsOf,
  withPostings,
  type AuditResult,
  type RecordWithPostings,
  type LedgerSnapshot,
  type Steps,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { cards, type Card } from './card.js';
import {
  cardOperations,
  isFunding,
  type CardOperation,
  fundingHold,
  type Funding,
} from './card-operation.js';

/**
 * Audits cards and their operations: the balances of every card equal its accounts, every operation has exactly the postings
 * of its status. The audit of authorizations checks the holds that cards count.
 */
export async function auditCards(snapshot: LedgerSnapshot): Promise<AuditResult> {
  const held = new Map<string, bigint>();
  const cards = await checkCards(snapshot);
  const operations = await checkOperations(snapshot, held);
  return {
    counts: { cards: cards.count, card_operations: operations.count },
    problems: [...cards.problems, ...operations.problems],
    held,
  };
}

async function checkCards({ collections: { records }, session, balances }: LedgerSnapshot) {
  const problems: string[] = [];
  const known = new Set<string>();
  let count = 0;
  const compare = (account: string, stored: bigint) => {
    known.add(account);
    const booked = balances.get(account) ?? 0n;
    if (stored !== booked) {
      problems.push(`${account}: the card says ${stored}, its postings ${booked}`);
    }
  };
  for await (const card of records(cards).find({}, { session })) {
    count += 1;
    compare(accounts.cardAvailable(card._id), card.available_minor);
    compare(accounts.cardHeld(card._id), card.held_minor);
    problems.push(...checkCard(card));
  }
  for (const account of balances.keys()) {
    if (account.startsWith('card:') && !known.has(account)) problems.push(`${account} has no card`);
  }
  return { count, problems };
}

function checkCard({ _id: id, status, issued }: Card): string[] {
  const usable = status !== 'pending' && status !== 'failed';
  return usable && issued === null ? [`${id} is ${status} and was never issued`] : [];
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

async function checkOperations(snapshot: LedgerSnapshot, held: Map<string, bigint>) {
  const operations = snapshot.collections.records(cardOperations);
  const problems: string[] = [];
  let count = 0;
  const fundReversals = new Map<string | null, CardOperation>();
  for await (const one of operations.find(
    { type: 'fund_reversal' },
    { session: snapshot.session },
  )) {
    fundReversals.set(one.reverses_operation_id, one);
  }
  for await (const operation of withPostings(operations, snapshot)) {
    count += 1;
    // From the deadline on, the hold of a funding belongs to its fund reversal.
    const { status, reversed_at } = fundReversals.get(operation._id) ?? operation;
    const steps = isFunding(operation) ? STEPS_OF_HELD[status] : NO_STEPS;
    problems.push(...checkSteps({ ...operation, status }, steps));
    if (isFunding(operation))
      problems.push(...checkPostings({ ...operation, status, reversed_at }));
    if (isFunding(operation) && isOpen({ status })) {
      addTo(held, accounts.held(operation.tenant_id), operation.amount_minor ?? 0n);
    }
  }
  return { count, problems };
}
