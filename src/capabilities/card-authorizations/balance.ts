import type {
  AuthorizationFact,
  AuthorizationStatus,
  CardAuthorization,
} from './card-authorization.js';

/** The status of an authorization, with the amounts held and cleared. */
export type AuthorizationBalance = {
  status: AuthorizationStatus;
  heldMinor: bigint;
  clearedMinor: bigint;
};

/**
 * The balance of an authorization after all its facts. Facts are applied in the order in which they happened, so their order
 * of arrival does not change the result.
 *
 * | fact     | effect                                                                              |
 * | -------- | ----------------------------------------------------------------------------------- |
 * | declined | releases the hold: the issuer did not receive our approval, or it was voided        |
 * | cleared  | takes the amount, also without a hold; releases the rest of the hold                |
 * | reversed | returns everything taken before it, and releases the hold                           |
 * | expired  | releases the hold                                                                   |
 */
export function balanceAfter(
  { approved, held_minor: held }: Pick<CardAuthorization, 'approved' | 'held_minor'>,
  facts: readonly AuthorizationFact[],
): AuthorizationBalance {
  const inOrder = facts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const first: AuthorizationBalance = {
    status: approved ? 'approved' : 'declined',
    // Every fact ends the hold.
    heldMinor: facts.length === 0 ? held : 0n,
    clearedMinor: 0n,
  };
  return inOrder.reduce(balanceAfterFact, first);
}

function balanceAfterFact(
  balance: AuthorizationBalance,
  { kind, amount_minor: amount }: AuthorizationFact,
): AuthorizationBalance {
  const { status, clearedMinor } = balance;
  switch (kind) {
    case 'cleared':
      return { ...balance, status: 'cleared', clearedMinor: clearedMinor + amount };
    case 'reversed':
      // A declined authorization without a clearing has nothing to reverse.
      return status === 'declined' ? balance : { ...balance, status: 'reversed', clearedMinor: 0n };
    case 'declined':
    case 'expired':
      return status === 'approved' ? { ...balance, status: kind } : balance;
  }
}

/** The movement of money between two balances of an authorization. Amounts are not negative. */
export type LedgerDelta = {
  /** Released from the hold. */
  releasedMinor: bigint;
  /** Paid to the network. */
  takenMinor: bigint;
  /** Returned by the network. */
  returnedMinor: bigint;
};

/** The movement from the stored balance of an authorization to a new one. */
export function deltaTo(
  { held_minor: held, cleared_minor: cleared }: CardAuthorization,
  { heldMinor, clearedMinor }: AuthorizationBalance,
): LedgerDelta {
  const more = clearedMinor - cleared;
  return {
    releasedMinor: held - heldMinor,
    takenMinor: more > 0n ? more : 0n,
    returnedMinor: more < 0n ? -more : 0n,
  };
}

/** An amount divided among its payers. */
export type Allocation = {
  heldMinor: bigint;
  cardMinor: bigint;
  walletMinor: bigint;
  owedMinor: bigint;
};

/** Divides an amount: the hold pays first, then the card, then the wallet. The tenant owes the rest. */
export function allocate(
  amountMinor: bigint,
  has: { heldMinor: bigint; cardMinor: bigint; walletMinor: bigint },
): Allocation {
  let left = amountMinor;
  const take = (available: bigint) => {
    const part = available < left ? available : left;
    left -= part;
    return part;
  };
  const heldMinor = take(has.heldMinor);
  const cardMinor = take(has.cardMinor);
  const walletMinor = take(has.walletMinor);
  return { heldMinor, cardMinor, walletMinor, owedMinor: left };
}
