import {
  addTo,
  withPostings,
  type AuditResult,
  type RecordWithPostings,
  type LedgerSnapshot,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { cardAuthorizations, type CardAuthorization } from './card-authorization.js';
import { balanceAfter } from './balance.js';

/**
 * Audits authorizations: the balance of each one follows from its facts and equals its postings, and the networks' accounts
 * equal the cleared amounts. The audit of cards checks the holds, because cards count them.
 */
export async function auditAuthorizations(snapshot: LedgerSnapshot): Promise<AuditResult> {
  const { collections, balances } = snapshot;
  const problems: string[] = [];
  const cleared = new Map<string, bigint>();
  let count = 0;
  for await (const one of withPostings(collections.records(cardAuthorizations), snapshot)) {
    count += 1;
    problems.push(...checkBalance(one), ...checkPostings(one));
    addTo(cleared, accounts.network(one.provider), one.cleared_minor);
  }
  for (const [account, amountMinor] of cleared) {
    const booked = balances.get(account) ?? 0n;
    if (booked !== amountMinor) {
      problems.push(`${account} is at ${booked}, authorizations cleared ${amountMinor}`);
    }
  }
  return { counts: { card_authorizations: count }, problems, held: new Map() };
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
