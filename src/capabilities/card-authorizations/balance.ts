import type {
  AuthorizationFact,
  AuthorizationStatus,
  CardAuthorization,
} from './card-authorization.js';

/** How an authorization stands: what is taken for it, and what is still held. */
export type AuthorizationBalance = {
  status: AuthorizationStatus;
  heldMinor: bigint;
  clearedMinor: bigint;
};

/**
 * How an authorization stands by all that is known of it. Facts count in the order in which they happened, not in that
 * of their arrival: whatever comes late leads to the same end as if it had come in time.
 *
 * | what happened | what it does                                                                           |
 * | ------------- | -------------------------------------------------------------------------------------- |
 * | declined      | ends the hold: the issuer did not hear our approval, or we took it back                |
 * | cleared       | takes the amount, also where nothing is held any more; the rest of the hold is free    |
 * | reversed      | gives back all that was taken before it, and the hold                                  |
 * | expired       | ends the hold                                                                          |
 */
export function balanceAfter(
  { approved, held_minor: held }: Pick<CardAuthorization, 'approved' | 'held_minor'>,
  facts: readonly AuthorizationFact[],
): AuthorizationBalance {
  const inOrder = facts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const first: AuthorizationBalance = {
    status: approved ? 'approved' : 'declined',
    // No fact leaves a hold as it is.
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
      // What was never approved and never taken stays declined.
      return status === 'declined' ? balance : { ...balance, status: 'reversed', clearedMinor: 0n };
    case 'declined':
    case 'expired':
      return status === 'approved' ? { ...balance, status: kind } : balance;
  }
}

/** What has to move for an authorization to stand as it should. Amounts are not negative. */
export type LedgerDelta = {
  /** No longer held. */
  releasedMinor: bigint;
  /** To the network. */
  takenMinor: bigint;
  /** Back from the network. */
  returnedMinor: bigint;
};

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

/** Who pays: what was held first, then the card, then the wallet; the tenant owes the rest. */
export type Payment = {
  heldMinor: bigint;
  cardMinor: bigint;
  walletMinor: bigint;
  owedMinor: bigint;
};

export function allocate(
  amountMinor: bigint,
  has: { heldMinor: bigint; cardMinor: bigint; walletMinor: bigint },
): Payment {
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
