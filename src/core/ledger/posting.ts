/**
 * Postings: the only way money moves. A posting is immutable and its legs sum to zero; a positive leg is money
 * that arrives on an account. Its id is `<resource>/<step>`, so that a step can happen once and a repeat is harmless.
 */
export type Leg = { account: string; amountMinor: bigint };

export type Posting = { id: string; tenantId: string; legs: Leg[]; at: Date };

export const accounts = {
  available: (tenantId: string) => `wallet:${tenantId}:available`,
  held: (tenantId: string) => `wallet:${tenantId}:held`,
  /** What the tenant owes us: what has happened and the wallet could not cover. */
  receivable: (tenantId: string) => `receivable:${tenantId}`,
  /** What a card can spend, and what authorizations hold of it. */
  cardAvailable: (card: string) => `card:${card}:available`,
  cardHeld: (card: string) => `card:${card}:held`,
  clearing: (provider: string) => `clearing:${provider}`,
  /** What was spent with cards of this issuer, until it is settled with the network. */
  network: (provider: string) => `network:${provider}`,
  fees: 'fees',
  /** What providers kept of what was paid to us. */
  providerFees: 'provider-fees',
  /** Payments that were proven after their hold was given back, until an operator decides. */
  suspense: 'suspense',
  /** The world outside: where credited money comes from. */
  external: 'external',
} as const;

/** Makes a posting. Throws unless its legs balance: an unbalanced posting is a bug and must not be written. */
export function posting(id: string, tenantId: string, at: Date, legs: Leg[]): Posting {
  const moving = legs.filter((leg) => leg.amountMinor !== 0n);
  const sum = moving.reduce((total, leg) => total + leg.amountMinor, 0n);
  if (sum !== 0n) throw new Error(`posting ${id} does not balance`);
  if (moving.length < 2) throw new Error(`posting ${id} moves nothing`);
  return { id, tenantId, at, legs: moving };
}
