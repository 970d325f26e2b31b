/**
 * The wallet document of a tenant: what can be spent and what today's limit has used.
 * Held money is not part of it: it is a sum of postings, so that a capture does not change this hot document.
 */
export type Wallet = {
  tenantId: string;
  /** Never below zero. */
  availableMinor: bigint;
  /** Taken from later credits before they become available. */
  owedMinor: bigint;
  /** The Africa/Lagos day that `dayUsedMinor` counts. Never goes backwards. */
  day: string;
  dayUsedMinor: bigint;
  version: bigint;
};

/** The wallet of a tenant that never had money. */
export function emptyWallet(tenantId: string): Wallet {
  return { tenantId, availableMinor: 0n, owedMinor: 0n, day: '', dayUsedMinor: 0n, version: 0n };
}

/** The use of `day` so far; a day that is behind the stored one counts towards the stored one. */
export function usedOn(wallet: Wallet, day: string): { day: string; usedMinor: bigint } {
  return day > wallet.day
    ? { day, usedMinor: 0n }
    : { day: wallet.day, usedMinor: wallet.dayUsedMinor };
}

/** Returns an amount to the daily limit of its day of acceptance. Has no effect after that day. */
export function restoreDailyLimit(wallet: Wallet, day: string, amountMinor: bigint): Wallet {
  if (wallet.day !== day) return wallet;
  const left = wallet.dayUsedMinor - amountMinor;
  return { ...wallet, dayUsedMinor: left > 0n ? left : 0n };
}

/** Africa/Lagos is UTC+1 all the year round. */
const LAGOS_OFFSET_MS = 60 * 60 * 1000;

/** The calendar day in Africa/Lagos, `YYYY-MM-DD`: the day that limits count. */
export function lagosDay(at: Date): string {
  return new Date(at.getTime() + LAGOS_OFFSET_MS).toISOString().slice(0, 10);
}
