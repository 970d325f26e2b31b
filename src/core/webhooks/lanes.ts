type Lane<Job> = { name: string; running: number; queue: { job: Job; since: number }[] };

/**
 * Runs jobs concurrently, with a bound for each lane and one for all lanes: a lane whose jobs hang uses its own share only.
 * Lanes take turns.
 */
export function createLanes<Job>(options: {
  /** Must not reject. */
  run: (job: Job, waitedMs: number) => Promise<void>;
  maxPerLane: number;
  maxInAll: number;
  maxWaitingPerLane: number;
}) {
  const { run, maxPerLane, maxInAll, maxWaitingPerLane } = options;
  const lanes = new Map<string, Lane<Job>>();
  let running = 0;
  let stopped = false;

  async function start(lane: Lane<Job>, { job, since }: Lane<Job>['queue'][number]): Promise<void> {
    lane.running += 1;
    running += 1;
    await run(job, performance.now() - since);
    lane.running -= 1;
    running -= 1;
    pump();
  }

  function pump(): void {
    for (let started = true; started;) {
      started = false;
      for (const lane of lanes.values()) {
        if (running >= maxInAll) return;
        const next = lane.running < maxPerLane ? lane.queue.shift() : undefined;
        if (next) void start(lane, next);
        else if (lane.running + lane.queue.length === 0) lanes.delete(lane.name);
        started ||= next !== undefined;
      }
    }
  }

  return {
    /** Puts a job into its lane; false if the lane is full. Starts nothing before `pump` is called, nor after `stop`. */
    offer(name: string, job: Job): boolean {
      if (stopped) return true;
      const lane = lanes.get(name) ?? { name, running: 0, queue: [] };
      lanes.set(name, lane);
      if (lane.queue.length >= maxWaitingPerLane) return false;
      lane.queue.push({ job, since: performance.now() });
      return true;
    },
    pump,
    /** Forgets what waits and starts nothing more. */
    stop(): void {
      stopped = true;
      lanes.clear();
    },
  };
}
