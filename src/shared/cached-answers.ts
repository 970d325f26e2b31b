import { LRUCache } from 'lru-cache';

const FOUND_ENTRIES = 10_000;
const FOUND_MS = 10 * 60 * 1000;

/**
 * Shares concurrent questions about one subject, and keeps the answers that `isKept` accepts for ten minutes in this
 * process. `keyOf` names the subject.
 */
export function createSharedEnquiry<Subject, Answer extends object>({
  keyOf,
  ask,
  isKept,
}: {
  keyOf: (subject: Subject) => string;
  ask: (subject: Subject) => Promise<Answer>;
  isKept: (answer: Answer) => boolean;
}): (subject: Subject) => Promise<Answer> {
  const kept = new LRUCache<string, Answer>({ max: FOUND_ENTRIES, ttl: FOUND_MS });
  const inFlight = new Map<string, Promise<Answer>>();

  return async (subject) => {
    const key = keyOf(subject);
    const known = kept.get(key) ?? inFlight.get(key);
    if (known) return known;
    const asked = ask(subject);
    inFlight.set(key, asked);
    try {
      const answer = await asked;
      if (isKept(answer)) kept.set(key, answer);
      return answer;
    } finally {
      inFlight.delete(key);
    }
  };
}

/** Lists of a provider change over weeks, so one may be an hour old. */
const FRESH_MS = 60 * 60 * 1000;

/**
 * Keeps a provider's list for an hour. Concurrent callers share one call. If the provider does not answer (`read` returns
 * null), callers get the old list, or null if there is none yet.
 */
export function createKeptList<List>(
  read: () => Promise<List | null>,
  clock: () => number = () => performance.now(),
): () => Promise<List | null> {
  let known: { list: List; at: number } | null = null;
  let inFlight: Promise<void> | null = null;

  async function refresh(): Promise<void> {
    try {
      const list = await read();
      if (list !== null) known = { list, at: clock() };
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
    return known?.list ?? null;
  };
}
