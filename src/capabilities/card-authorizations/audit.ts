import {
  addTo,
  auditPages,
  type RecordAudit,
  type RecordWithPostings,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { cards } from '../cards/record.js';
import {
  cardAuthorizations,
  takenOf,
  type AuthorizationMessage,
  type CardAuthorization,
} from './record.js';
import { balanceAfter, type AuthorizationFact } from './facts.js';

/**
 * Audits authorizations: the balance of each one follows from its facts and equals its postings, the networks' accounts equal
 * the cleared amounts, and every card counts the authorizations that hold money of it.
 */
export const auditAuthorizations: RecordAudit = {
  pages: [
    auditPages(cardAuthorizations, ({ records }) =>
      records.flatMap((one) => [...checkBalance(one), ...checkPostings(one)]),
    ),
  ],
  tenant: auditTenant,
};

const CARDS = 500;

type Sums = {
  cleared: Map<string, bigint>;
  held: Map<string, bigint>;
  problems: string[];
};

async function auditTenant(books: TenantBooks): Promise<TenantAudit> {
  const { collections, session, tenantId, balances } = books;
  const sums: Sums = { cleared: new Map(), held: new Map(), problems: [] };
  let batch: CountedCard[] = [];
  for await (const card of collections
    .records(cards)
    .find({ tenant_id: tenantId }, { session, projection: { open_holds: 1 } })) {
    batch.push(card);
    if (batch.length < CARDS) continue;
    await sumCards(books, batch, sums);
    batch = [];
  }
  if (batch.length > 0) await sumCards(books, batch, sums);
  const { cleared, held, problems } = sums;
  for (const [account, amountMinor] of cleared) {
    const booked = balances.get(account) ?? 0n;
    if (booked !== amountMinor) {
      problems.push(`${account} is at ${booked}, authorizations cleared ${amountMinor}`);
    }
  }
  return { problems, held };
}

type CountedCard = { _id: string; open_holds: number };

/** Adds up the authorizations of some cards, and compares the number of holds that each card has stored. */
async function sumCards(
  { collections, session, tenantId }: TenantBooks,
  batch: readonly CountedCard[],
  { cleared, held, problems }: Sums,
): Promise<void> {
  const groups = collections.records(cardAuthorizations).aggregate<{
    _id: { card: string; provider: string };
    cleared: bigint;
    refunded: bigint;
    credited: bigint;
    held: bigint;
    inWallet: bigint;
    holds: number;
  }>(
    [
      { $match: { card_id: { $in: batch.map(({ _id }) => _id) }, tenant_id: tenantId } },
      {
        $group: {
          _id: { card: '$card_id', provider: '$provider' },
          cleared: { $sum: '$cleared_minor' },
          refunded: { $sum: '$refunded_minor' },
          credited: { $sum: { $ifNull: ['$credited_minor', 0n] } },
          held: { $sum: '$held_minor' },
          inWallet: { $sum: '$held_wallet_minor' },
          holds: { $sum: { $cond: [{ $gt: ['$held_minor', 0] }, 1, 0] } },
        },
      },
    ],
    { session },
  );
  const holds = new Map<string, number>();
  for await (const { _id: of, ...sum } of groups) {
    addTo(cleared, accounts.network(of.provider), sum.cleared - sum.refunded - sum.credited);
    const onCard = sum.held - sum.inWallet;
    if (onCard > 0n) addTo(held, accounts.cardHeld(of.card), onCard);
    if (sum.inWallet > 0n) addTo(held, accounts.held(tenantId), sum.inWallet);
    holds.set(of.card, (holds.get(of.card) ?? 0) + sum.holds);
  }
  for (const { _id: id, open_holds: counted } of batch) {
    const found = holds.get(id) ?? 0;
    if (counted !== found)
      problems.push(`${id} counts ${counted} holds, its authorizations ${found}`);
  }
}

/** True if this fact holds at least the hold of the approved message. */
const holdsFor = (fact: AuthorizationFact, message: AuthorizationMessage): boolean =>
  fact.kind === 'approved' &&
  fact.message_id === message.message_id &&
  fact.held_minor >= (message.hold_minor ?? message.amount_minor);

function checkBalance(one: CardAuthorization): string[] {
  const { _id: id, status, held_minor: held, cleared_minor: cleared, refunded_minor: back } = one;
  const expected = balanceAfter(one.facts);
  const same =
    expected.status === status &&
    expected.heldMinor === held &&
    expected.clearedMinor === cleared &&
    expected.refundedMinor === back &&
    expected.creditedMinor === (one.credited_minor ?? 0n);
  const forgotten = one.messages.filter(
    (message) => message.approved && !one.facts.some((fact) => holdsFor(fact, message)),
  );
  return [
    ...(same ? [] : [`${id} is ${status}, its facts say ${expected.status}`]),
    ...forgotten.map(({ amount_minor: amount }) => `${id} approved ${amount} without a hold of it`),
  ];
}

/** Compares an authorization with the sums of its postings on the accounts of holds and of the network. */
function checkPostings({ postings, ...one }: CardAuthorization & RecordWithPostings): string[] {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = one;
  const sums = new Map<string, bigint>();
  for (const { account, amount_minor: amountMinor } of postings.flatMap(({ legs }) => legs)) {
    addTo(sums, account, amountMinor);
  }
  const of = (account: string) => sums.get(account) ?? 0n;
  const onCard = of(accounts.cardHeld(card));
  const inWallet = of(accounts.held(tenantId));
  const taken = of(accounts.network(provider));
  const problems: string[] = [];
  if (onCard + inWallet !== one.held_minor || inWallet !== one.held_wallet_minor) {
    problems.push(`${id} holds ${one.held_minor}, its postings ${onCard + inWallet}`);
  }
  const expected = takenOf(one);
  if (taken !== expected) problems.push(`${id} took ${expected}, its postings ${taken}`);
  return problems;
}
