export type Timers = {
  /** Runs `run` once, at least `delayMs` from now, unless `clear` comes first. */
  after(delayMs: number, run: () => void): void;
  /** Forgets what is due and takes nothing more. What was due is found again in the journal. */
  clear(): void;
};

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
