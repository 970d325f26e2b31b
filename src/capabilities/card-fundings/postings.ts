import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { CardOperation } from '../cards/card-operation.js';

/** An operation that moves money: a funding or a fund reversal. */
export type Funding = CardOperation & { amount_minor: bigint };

/** A fund reversal ends the hold of its funding, so the postings of both are named after the funding. */
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

/** Held → the card. Has the same id as the release, so that only one of them can exist. */
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

/** The rest of the funding on the card → available, after the receivable is paid. */
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

/** Books a funding that succeeded after the release of its hold against suspense, or undoes that. None of it can be spent. */
export function suspensePosting(funding: Funding, at: Date, direction: 'in' | 'out'): Posting {
  const amountMinor = direction === 'in' ? funding.amount_minor : -funding.amount_minor;
  const name = direction === 'in' ? 'suspense' : 'suspense-reversal';
  return posting(step(funding, name), funding.tenant_id, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(funding.provider), amountMinor },
  ]);
}

/** Available → the card, and clears suspense. A receivable covers what the wallet lacks. */
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
