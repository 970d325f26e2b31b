import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;

/** An amount of memory, and the number of transfers accepted at that time. */
export type Sample = { transfers: number; mib: number };

/** Resident memory of a process without heap-watch.mjs, such as an engine. */
export function residentMib(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(stdout) / 1024;
}

/**
 * Memory figures that the service's processes wrote (heap-watch.mjs): resident memory of each process, and live memory
 * of each of its threads after a garbage collection.
 */
export function readHeaps(
  folder: string,
  transfersAt: (at: number) => number,
): Record<string, Sample[]> {
  const found: Record<string, Sample[]> = {};
  for (const file of readdirSync(folder)) {
    const [, script, pid, thread] = /^(.+)-(\d+)-(\d+)\.jsonl$/.exec(file) ?? [];
    const process = `${script === 'src-main.js' ? 'API' : 'worker'} ${pid}`;
    const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    const all = lines.map((line) => JSON.parse(line) as Record<string, number>);
    const of = (value: (one: Record<string, number>) => number) =>
      all.map((one) => ({ transfers: transfersAt(one['at'] ?? 0), mib: value(one) / MIB }));
    const live = (one: Record<string, number>) => (one['heap'] ?? 0) + (one['external'] ?? 0);
    found[`${process}, live in thread ${thread}`] = of(live);
    if (thread === '0') found[`${process}, resident`] = of((one) => one['rss'] ?? 0);
  }
  return found;
}

/** The second half of the samples, because memory that a process needs at its start is not growth. */
export const secondHalf = <T>(samples: readonly T[]): T[] =>
  samples.slice(Math.ceil(samples.length / 2));

/** Growth in MiB for each thousand transfers, by least squares. */
export function growthMib(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean((s) => s.transfers), mean((s) => s.mib)];
  const above = samples.reduce((sum, s) => sum + (s.transfers - x) * (s.mib - y), 0);
  const below = samples.reduce((sum, s) => sum + (s.transfers - x) ** 2, 0);
  return below === 0 ? 0 : (1_000 * above) / below;
}
