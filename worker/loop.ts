const TICK_MS = 1_000;

/** A background loop of the worker process. */
export type Loop = {
  /** Runs until `stop` is called; resolves when the present tick has ended. */
  run(): Promise<void>;
  stop(): void;
};

/** Calls `tick` every `everyMs`, and at once again while it returns true. `tick` must not throw. */
export function createLoop(tick: () => Promise<boolean>, everyMs = TICK_MS): Loop {
  const stopping = { now: false };
  let wakeUp: () => void = () => undefined;
  return {
    async run() {
      while (!stopping.now) {
        const more = await tick();
        if (more || stopping.now) continue;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, everyMs);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    stop() {
      stopping.now = true;
      wakeUp();
    },
  };
}
