/** Timers that can be cancelled together. */
export type Timers = {
  /** Runs `run` once, at least `delayMs` from now, unless `clear` comes first. */
  after(delayMs: number, run: () => void): void;
  /** Cancels all timers and accepts no more. The journal restores them after the next start. */
  clear(): void;
};

/** Creates an empty set of timers. */
export function createTimers(): Timers {
  const due = new Set<NodeJS.Timeout>();
  let cleared = false;
  return {
    after(delayMs, run) {
      if (cleared) return;
      const timer = setTimeout(
        () => {
          due.delete(timer);
          run();
        },
        Math.max(0, delayMs),
      );
      due.add(timer);
    },
    clear() {
      cleared = true;
      for (const timer of due) clearTimeout(timer);
      due.clear();
    },
  };
}
