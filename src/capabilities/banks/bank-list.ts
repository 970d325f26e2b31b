import type { Bank, TransferProvider } from '../../core/providers/transfer-provider.js';

/** Banks come and go over weeks; within this a list is not asked for again. */
const FRESH_MS = 60 * 60 * 1000;
const CALL_TIMEOUT_MS = 5_000;

/** All banks by name, or null where none were ever heard of. */
export type BankList = () => Promise<readonly Bank[] | null>;

/**
 * The banks that a provider reaches, remembered for an hour and asked for once by all who wait. A provider that does
 * not answer costs nobody the list that is known: an old one is better than none.
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
      // Who has an old list takes it: the new one is for those who come next, and may fail to come.
      if (known) inFlight.catch(() => undefined);
      else await inFlight;
    }
    return known?.banks ?? null;
  };
}
