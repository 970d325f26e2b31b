const EVERY_MS = 1_000;
const FIRST_AFTER_MS = 2_000;

const WAITED_EVERY_MS = 5_000;

type Terminal = { isTTY?: boolean; write(text: string): unknown };

/** Reads how far the awaited work has come, in words; null if that is not known. */
export type ReadPosition = () => Promise<string | null>;
const noPosition: ReadPosition = () => Promise.resolve(null);

/** Counts of the operator API in words, such as `1200 postings, 31 closed days, 40 transfers`. */
export const inWords = (counts: Record<string, unknown>): string =>
  Object.entries(counts)
    .filter(([name]) => name !== 'step')
    .map(([name, count]) => `${String(count)} ${name.replaceAll('_', ' ')}`)
    .join(', ');

/**
 * Tells a person at a terminal that an answer is awaited, from the third second on and every five seconds then: the comparison of
 * records or the audit of a ledger takes minutes. Files and pipes get nothing. Returns the function that ends it.
 */
export function showWaiting(
  position: ReadPosition = noPosition,
  to: Terminal = process.stderr,
  firstAfterMs = FIRST_AFTER_MS,
): () => void {
  if (!to.isTTY) return () => undefined;
  const since = performance.now();
  let ended = false;
  const say = async () => {
    const reached = await position().catch(() => null);
    if (ended) return;
    const seconds = Math.round((performance.now() - since) / 1_000);
    to.write(`bursar: at work for ${seconds} s${reached === null ? '' : `: ${reached}`}\n`);
    sayAfter(WAITED_EVERY_MS);
  };
  let timer: NodeJS.Timeout | undefined;
  const sayAfter = (ms: number) => (timer = setTimeout(() => void say(), ms));
  sayAfter(firstAfterMs);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Waits for work that may take minutes, and tells a person at a terminal so. */
export async function whileWaiting<T>(work: () => Promise<T>): Promise<T> {
  const end = showWaiting();
  try {
    return await work();
  } finally {
    end();
  }
}

/** Shows a person at a terminal the progress of a long command, from its third second on, once a second. */
export function createProgress(
  what: string,
  to: Terminal = process.stderr,
  firstAfterMs = FIRST_AFTER_MS,
) {
  let printAt = performance.now() + firstAfterMs;
  let last = 0;
  let printed = false;
  const print = () => to.write(`bursar: ${last} ${what}\n`);
  return {
    at(count: number): void {
      last = count;
      if (!to.isTTY || performance.now() < printAt) return;
      printAt = performance.now() + EVERY_MS;
      printed = true;
      print();
    },
    end(): void {
      if (printed) print();
    },
  };
}
