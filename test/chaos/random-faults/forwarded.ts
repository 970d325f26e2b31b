import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosCluster } from './cluster.js';

/** Counts of a killed process since the latest read are lost, so reads are frequent. */
const READ_EVERY_MS = 500;
const ANSWERED = /^bursar_commit_forwarded_mutations_total\{result="answered"\} (\d+)$/m;
const STARTED_AT = /^process_start_time_seconds (\S+)$/m;

/**
 * Counts the mutations of contended wallets that another process has committed (decision 16), over all APIs and all their starts:
 * a process counts from 0, so its latest count is kept under its start.
 */
export function countForwarded({ service: { metricsUrls }, isPatient }: ChaosCluster) {
  const counts = new Map<string, number>();
  const going = { on: true };

  async function read(url: string): Promise<void> {
    const reply = await fetch(url, { signal: AbortSignal.timeout(READ_EVERY_MS * 4) });
    const text = await reply.text();
    const [answered, startedAt] = [ANSWERED.exec(text)?.[1], STARTED_AT.exec(text)?.[1]];
    if (answered && startedAt) counts.set(`${url} ${startedAt}`, Number(answered));
  }

  async function readOn(url: string): Promise<void> {
    while (going.on && isPatient()) {
      // It may be killed or frozen.
      await read(url).catch(() => undefined);
      await sleep(READ_EVERY_MS);
    }
  }

  const done = Promise.all(metricsUrls.map(readOn));
  return {
    answered: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}
