const EVERY_MS = 1_000;
const FIRST_AFTER_MS = 2_000;

const WAITED_EVERY_MS = 5_000;

/**
 * Tells a person at a terminal that an answer is awaited, from the third second on and every five seconds then: the comparison of
 * records or the audit of a ledger takes minutes. Files and pipes get nothing. Returns the function that ends it.
 */
export function showWaiting(
  to: { isTTY?: boolean; write(text: string): unknown } = process.stderr,
  firstAfterMs = FIRST_AFTER_MS,
): () => void {
  if (!to.isTTY) return () => undefined;
  const since = performance.now();
  const say = () => {
    to.write(`bursar: at work for ${Math.round((performance.now() - since) / 1_000)} s\n`);
    timer = setTimeout(say, WAITED_EVERY_MS);
  };
  let timer = setTimeout(say, firstAfterMs);
  return () => clearTimeout(timer);
}

/** Prints the progress of a long command on standard error, from its third second on, once a second. */
export function createProgress(what: string) {
  let printAt = performance.now() + FIRST_AFTER_MS;
  let last = 0;
  let printed = false;
  return {
    at(count: number): void {
      last = count;
      if (performance.now() < printAt) return;
      printAt = performance.now() + EVERY_MS;
      printed = true;
      console.error(`bursar: ${count} ${what}`);
    },
    end(): void {
      if (printed) console.error(`bursar: ${last} ${what}`);
    },
  };
}
