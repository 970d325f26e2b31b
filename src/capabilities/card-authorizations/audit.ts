import {
  addTo,
  withPostings,
  type AuditResult,
  type RecordWithPostings,
  type LedgerSnapshot,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { cards } from '../cards/card.js';
import { cardAuthorizations, type CardAuthorization } from './card-authorization.js';
import { balanceAfter } from './transitions.js';

/**
 * Audits authorizations: the balance of each one follows from its facts and equals its postings, the networks' accounts equal
 * the cleared amounts, and every card counts the authorizations that hold money of it.
 */
export async function auditAuthorizations(snapshot: LedgerSnapshot): Promise<AuditResult> {
  const { collections, balances } = snapshot;
  const problems: string[] = [];
  const cleared = new Map<string, bigint>();
  const held = new Map<string, bigint>();
  const holds = new Map<string, number>();
  let count = 0;
  for await (const one of withPostings(collections.records(cardAuthorizations), snapshot)) {
    count += 1;
    problems.push(...checkBalance(one), ...checkPostings(one));
    addTo(cleared, accounts.network(one.provider), one.cleared_minor);
    if (one.held_minor > 0n) {
      const { funding_source: of, card_id: card, tenant_id: tenantId } = one;
      addTo(
        held,
        of === 'card' ? accounts.cardHeld(card) : accounts.held(tenantId),
        one.held_minor,
      );
      holds.set(card, (holds.get(card) ?? 0) + 1);
    }
  }
  for (const [account, amountMinor] of cleared) {
    const booked = balances.get(account) ?? 0n;
    if (booked !== amountMinor) {
      problems.push(`${account} is at ${booked}, authorizations cleared ${amountMinor}`);
    }
  }
  problems.push(...(await checkHolds(snapshot, holds)));
  return { counts: { card_authorizations: count }, problems, held };
}

/** Compares the number of holds that every card has stored with the number of its authorizations that hold money. */
async function checkHolds(
  { collections, session }: LedgerSnapshot,
  holds: ReadonlyMap<string, number>,
): Promise<string[]> {
  const problems: string[] = [];
  for await (const { _id: id, open_holds: counted } of collections
    .records(cards)
    .find({}, { session, projection: { open_holds: 1 } })) {
    const found = holds.get(id) ?? 0;
    if (counted !== found)
      problems.push(`${id} counts ${counted} holds, its authorizations ${found}`);
  }
  return problems;
}

function checkBalance(one: CardAuthorization): string[] {
  const { _id: id, status, held_minor: held, cleared_minor: cleared } = one;
  const expected = balanceAfter(one, one.facts);
  const same =
    expected.status === status && expected.heldMinor === held && expected.clearedMinor === cleared;
  const holdsAll = one.facts.length > 0 || held === (one.approved ? one.amount_minor : 0n);
  return same && holdsAll ? [] : [`${id} is ${status}, its facts say ${expected.status}`];
}

/** Compares an authorization with the sums of its postings on the accounts of holds and of the network. */
function checkPostings({ postings, ...one }: CardAuthorization & RecordWithPostings): string[] {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = one;
  const sums = new Map<string, bigint>();
  for (const { account, amount_minor: amountMinor } of postings.flatMap(({ legs }) => legs)) {
    addTo(sums, account, amountMinor);
  }
  const of = (account: string) => sums.get(account) ?? 0n;
  const held = of(accounts.cardHeld(card)) + of(accounts.held(tenantId));
  const taken = of(accounts.network(provider));
  const problems: string[] = [];
  if (held !== one.held_minor) problems.push(`${id} holds ${one.held_minor}, its postings ${held}`);
  if (taken !== one.cleared_minor) {
    problems.push(`${id} took ${one.cleared_minor}, its postings ${taken}`);
  }
  return problems;
}
