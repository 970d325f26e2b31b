import { LRUCache } from 'lru-cache';
import type {
  NameEnquiryAnswer,
  TransferProvider,
  Bank,
} from '../../core/providers/transfer-provider.js';

const CACHE_ENTRIES = 10_000;
const CACHE_MS = 10 * 60 * 1000;

/** The answer to a name enquiry. Without one, the bank's name is that of the list of banks, or null if there is no list yet. */
export type AccountName =
  | Exclude<NameEnquiryAnswer, { kind: 'no_answer' }>
  | { kind: 'no_answer'; bankName: string | null };

/** Asks the bank for the name of an account. Never throws because the bank is silent: that is `no_answer`. */
export type NameEnquiry = (account: { account: string; bankCode: string }) => Promise<AccountName>;

/**
 * Creates the name enquiry of a provider. A call ends within `timeoutMs`, and concurrent calls for one account share it.
 * A found name is cached for ten minutes in this process. "No such account" is not cached, because the account may be
 * opened at any time.
 */
export function createNameEnquiry(
  provider: Pick<TransferProvider, 'resolveAccount'>,
  timeoutMs: number,
  bankList: BankList,
): NameEnquiry {
  const found = new LRUCache<string, AccountName>({ max: CACHE_ENTRIES, ttl: CACHE_MS });
  const inFlight = new Map<string, Promise<AccountName>>();

  async function enquire(account: { account: string; bankCode: string }): Promise<AccountName> {
    const signal = AbortSignal.timeout(timeoutMs);
    // In parallel, so that a bank that does not answer takes no longer than the enquiry.
    const banks = bankList().catch(() => null);
    const answer = await provider.resolveAccount(account, signal);
    if (answer.kind !== 'no_answer') return answer;
    const listed = await Promise.race([banks, untilAborted(signal)]);
    const bank = listed?.find(({ code }) => code === account.bankCode);
    return { kind: 'no_answer', bankName: bank?.name ?? null };
  }

  return async (account) => {
    const key = `${account.bankCode}/${account.account}`;
    const known = found.get(key) ?? inFlight.get(key);
    if (known) return known;
    const enquiry = enquire(account);
    inFlight.set(key, enquiry);
    try {
      const answer = await enquiry;
      if (answer.kind === 'found') found.set(key, answer);
      return answer;
    } finally {
      inFlight.delete(key);
    }
  };
}

const untilAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });

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
