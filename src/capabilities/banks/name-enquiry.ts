import { LRUCache } from 'lru-cache';
import type {
  NameEnquiryAnswer,
  TransferProvider,
} from '../../core/providers/transfer-provider.js';

const CACHE_ENTRIES = 10_000;
const CACHE_MS = 10 * 60 * 1000;

export type NameEnquiry = (account: {
  account: string;
  bankCode: string;
}) => Promise<NameEnquiryAnswer>;

/**
 * Asks whose account it is, within a time limit and once for all who ask at the same moment. A name that was found is
 * kept for some minutes, in this process only; "no such account" is asked again, for it may have been opened since.
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
