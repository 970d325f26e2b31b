import { LRUCache } from 'lru-cache';
import type {
  NameEnquiryAnswer,
  TransferProvider,
} from '../../core/providers/transfer-provider.js';

const CACHE_ENTRIES = 10_000;
const CACHE_MS = 10 * 60 * 1000;

/** Asks the bank for the name of an account. Never throws because the bank is silent: that is `no_answer`. */
export type NameEnquiry = (account: {
  account: string;
  bankCode: string;
}) => Promise<NameEnquiryAnswer>;

/**
 * Creates the name enquiry of a provider. A call ends within `timeoutMs`, and concurrent calls for one account share it.
 * A found name is cached for ten minutes in this process. "No such account" is not cached, because the account may be
 * opened at any time.
 */
export function createNameEnquiry(provider: TransferProvider, timeoutMs: number): NameEnquiry {
  const found = new LRUCache<string, NameEnquiryAnswer>({ max: CACHE_ENTRIES, ttl: CACHE_MS });
  const inFlight = new Map<string, Promise<NameEnquiryAnswer>>();
  return async (account) => {
    const key = `${account.bankCode}/${account.account}`;
    const known = found.get(key) ?? inFlight.get(key);
    if (known) return known;
    const enquiry = provider.resolveAccount(account, AbortSignal.timeout(timeoutMs));
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
