/**
 * Postings: the only way money moves. A posting is immutable and its legs sum to zero; a positive leg is money
 * that arrives on an account. Its id is `<resource>/<step>`, so that a step can happen once and a repeat is harmless.
 */
export type Leg = { account: string; amountMinor: bigint };

/** One movement of money. */
export type Posting = { id: string; tenantId: string; legs: Leg[]; at: Date };

/** The accounts of the ledger, by name. */
export const accounts = {
  available: (tenantId: string) => `wallet:${tenantId}:available`,
  held: (tenantId: string) => `wallet:${tenantId}:held`,
  /** The debt of the tenant: executed movements that the wallet could not cover. */
  receivable: (tenantId: string) => `receivable:${tenantId}`,
  /** The balance that a card can spend, and the part that authorizations hold. */
  cardAvailable: (card: string) => `card:${card}:available`,
  cardHeld: (card: string) => `card:${card}:held`,
  clearing: (provider: string) => `clearing:${provider}`,
  /** The amounts of open disputes that the provider has not taken. */
  disputes: (provider: string) => `disputes:${provider}`,
  /** The clearings with cards of this issuer, until the network is paid. */
  network: (provider: string) => `network:${provider}`,
  fees: 'fees',
  /** The fees that providers keep of charges and deposits, and their prices of transfers. */
  providerFees: 'provider-fees',
  /** Payments that were proven after the release of their hold, until an operator decides. */
  suspense: 'suspense',
  /** The world outside: where credited money comes from. */
  external: 'external',
} as const;

/** Makes a posting without its zero legs. Throws unless the legs balance: an unbalanced posting is a bug. */
export function posting(id: string, tenantId: string, at: Date, legs: Leg[]): Posting {
  const moving = legs.filter((leg) => leg.amountMinor !== 0n);
  const sum = moving.reduce((total, leg) => total + leg.amountMinor, 0n);
  if (sum !== 0n) throw new Error(`posting ${id} does not balance`);
  if (moving.length < 2) throw new Error(`posting ${id} moves nothing`);
  return { id, tenantId, at, legs: moving };
}
