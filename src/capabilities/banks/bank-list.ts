import type { Bank, TransferProvider } from '../../core/providers/transfer-provider.js';

/** Banks come and go over weeks, so a list may be one hour old. */
const FRESH_MS = 60 * 60 * 1000;
const CALL_TIMEOUT_MS = 5_000;

/** Returns all banks sorted by name, or null if the provider has never answered. */
export type BankList = () => Promise<readonly Bank[] | null>;

/**
 * Caches the banks that a provider reaches for an hour. Concurrent callers share one call. If the provider does not
 * answer, callers get the old list.
 */
export function createBankList(
  provider: Pick<TransferProvider, 'listBanks'>,
  clock: () => number = () => performance.now(),
): BankList {
  let known: { banks: readonly Bank[]; at: number } | null = null;
  let inFlight: Promise<void> | null = null;

  async function refresh(): Promise<void> {
    try {
      const answer = await provider.listBanks(AbortSignal.timeout(CALL_TIMEOUT_MS));
      if (answer.kind !== 'banks') return;
      const banks = answer.banks.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
      known = { banks, at: clock() };
    } finally {
      inFlight = null;
    }
  }

  return async () => {
    if (!known || clock() - known.at > FRESH_MS) {
      inFlight ??= refresh();
      // A caller that can have the old list does not wait for the new one, which later callers get.
      if (known) inFlight.catch(() => undefined);
      else await inFlight;
    }
    return known?.banks ?? null;
  };
}
