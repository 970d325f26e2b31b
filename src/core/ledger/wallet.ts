/**
 * The wallet document of a tenant: what can be spent and what today's limit has used.
 * Held money is not part of it: it is a sum of postings, so that a capture does not change this hot document.
 */
export type Wallet = {
  tenantId: string;
  /** Never below zero. */
  availableMinor: bigint;
  /** Taken from later credits before they become available. */
  receivableMinor: bigint;
  /** The Africa/Lagos day that `limitUsedMinor` counts. Never goes backwards. */
  limitDay: string;
  limitUsedMinor: bigint;
  /** The tenant is frozen: no reload of a card is created. Only operators change it. */
  isFrozen?: boolean;
  version: bigint;
};

/** A wallet as it is stored. */
export type WalletDocument = {
  _id: string;
  available_minor: bigint;
  receivable_minor: bigint;
  limit_day: string;
  limit_used_minor: bigint;
  is_frozen?: boolean;
  version: bigint;
};

/** Reads a wallet from its document. */
export const toWallet = (document: WalletDocument): Wallet => ({
  tenantId: document._id,
  availableMinor: document.available_minor,
  receivableMinor: document.receivable_minor,
  limitDay: document.limit_day,
  limitUsedMinor: document.limit_used_minor,
  ...(document.is_frozen === true && { isFrozen: true }),
  version: document.version,
});

/** The wallet of a tenant that never had money. */
export function emptyWallet(tenantId: string): Wallet {
  return {
    tenantId,
    availableMinor: 0n,
    receivableMinor: 0n,
    limitDay: '',
    limitUsedMinor: 0n,
    version: 0n,
  };
}

/** The use of `day` so far; a day that is behind the stored one counts towards the stored one. */
export function usedOn(wallet: Wallet, day: string): { day: string; usedMinor: bigint } {
  return day > wallet.limitDay
    ? { day, usedMinor: 0n }
    : { day: wallet.limitDay, usedMinor: wallet.limitUsedMinor };
}

/** Returns an amount to the daily limit of its day of acceptance. Has no effect after that day. */
export function restoreDailyLimit(wallet: Wallet, day: string, amountMinor: bigint): Wallet {
  if (wallet.limitDay !== day) return wallet;
  const left = wallet.limitUsedMinor - amountMinor;
  return { ...wallet, limitUsedMinor: left > 0n ? left : 0n };
}

/** Africa/Lagos is UTC+1 all the year round. */
const LAGOS_OFFSET_MS = 60 * 60 * 1000;

/** The calendar day in Africa/Lagos, `YYYY-MM-DD`: the day that limits count. */
export function lagosDay(at: Date): string {
  return new Date(at.getTime() + LAGOS_OFFSET_MS).toISOString().slice(0, 10);
}
