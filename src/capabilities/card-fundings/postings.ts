import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { CardOperation } from '../cards/card-operation.js';

/** Every movement of money that a funding can make. */
export type Funding = CardOperation & { amount_minor: bigint };

/** An unwinding has the hold of what it unwinds, and ends it: their money has one name. */
const heldOperationId = ({
  _id,
  reverses_operation_id: reversesOperationId,
}: Pick<CardOperation, '_id' | 'reverses_operation_id'>) => reversesOperationId ?? _id;

const step = (funding: Funding, name: string) => `${heldOperationId(funding)}/${name}`;

/** Available → held, at acceptance. */
export function holdPosting(funding: Funding): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = funding;
  return posting(step(funding, 'hold'), tenantId, funding.created_at, [
    { account: accounts.available(tenantId), amountMinor: -amount },
    { account: accounts.held(tenantId), amountMinor: amount },
  ]);
}

/** Held → the card. Shares its id with the release: only one of them can ever exist. */
export function capturePosting(funding: Funding, at: Date): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = funding;
  return posting(step(funding, 'resolve'), tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -amount },
    { account: accounts.cardAvailable(funding.card_id), amountMinor: amount },
  ]);
}

/** Held → available. */
export function releasePosting(funding: Funding, at: Date): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = funding;
  return posting(step(funding, 'resolve'), tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -amount },
    { account: accounts.available(tenantId), amountMinor: amount },
  ]);
}

/** What the card still has of it → available, less what is owed. */
export function reversalPosting(
  funding: Funding,
  at: Date,
  { leftMinor, repaidMinor }: { leftMinor: bigint; repaidMinor: bigint },
): Posting {
  const { tenant_id: tenantId, card_id: card } = funding;
  return posting(step(funding, 'reversal'), tenantId, at, [
    { account: accounts.cardAvailable(card), amountMinor: -leftMinor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: leftMinor - repaidMinor },
  ]);
}

/** The issuer did fund what we had given up: with it against suspense, both ways. None of it can be spent. */
export function suspensePosting(funding: Funding, at: Date, direction: 'in' | 'out'): Posting {
  const amountMinor = direction === 'in' ? funding.amount_minor : -funding.amount_minor;
  const name = direction === 'in' ? 'suspense' : 'suspense-reversal';
  return posting(step(funding, name), funding.tenant_id, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(funding.provider), amountMinor },
  ]);
}

/** Suspense is paid by the wallet after all, and by a receivable for what it lacks; the card has its money. */
export function suspenseDebitPosting(funding: Funding, at: Date, owedMinor: bigint): Posting {
  const { tenant_id: tenantId, card_id: card, provider, amount_minor: amount } = funding;
  return posting(step(funding, 'suspense-debit'), tenantId, at, [
    { account: accounts.available(tenantId), amountMinor: owedMinor - amount },
    { account: accounts.receivable(tenantId), amountMinor: -owedMinor },
    { account: accounts.suspense, amountMinor: amount },
    { account: accounts.clearing(provider), amountMinor: -amount },
    { account: accounts.cardAvailable(card), amountMinor: amount },
  ]);
}
