import { spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, copyFileSync, chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Fetched } from './cache.js';
import { RELEASES, type EngineName } from './releases.js';
import { compiled } from '../src/shared/package-root.js';

const LIMITS = {
  /** Without a first byte within this time, the publisher counts as unreachable. */
  firstByteMs: 8_000,
  /** A download without progress for this long is cancelled. */
  stalledMs: 45_000,
};

/**
 * Downloads an engine from its publisher. The downloader (download.ts) is a process of its own, because the
 * library cannot be cancelled, and waits for minutes on a network that drops packets.
 */
export async function downloadOfficial(
  engine: EngineName,
  folder: string,
  env: NodeJS.ProcessEnv,
  onProgress: (megabytes: number) => void,
  { script = compiled('devstack', 'download.js'), limits = LIMITS } = {},
): Promise<Fetched> {
  const { official } = RELEASES[engine];
  if (official === null) throw new Error('it is not published there');
  const args = [script, official.version, folder];
  const result = await watched(args, env, { folder, onProgress, limits });
  if (result.error !== null) throw new Error(result.error);
  const source = result.lastLine;
  if (!existsSync(source)) throw new Error(`it was downloaded, but is not at ${source}`);
  // The downloader may return an earlier download from another folder.
  if (source.startsWith(folder)) renameSync(source, join(folder, engine));
  else copyFileSync(source, join(folder, engine));
  chmodSync(join(folder, engine), 0o755);
  return { file: engine, from: `${official.host}, ${official.version}` };
}

type Watch = {
  folder: string;
  onProgress: (megabytes: number) => void;
  limits: typeof LIMITS;
};

function watched(
  args: string[],
  env: NodeJS.ProcessEnv,
  { folder, onProgress, limits }: Watch,
): Promise<{ error: string | null; lastLine: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err, reason] = ['', '', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));

    let [bytes, since] = [0, Date.now()];
    const timer = setInterval(() => {
      const now = bytesIn(folder);
      if (now !== bytes) {
        onProgress(now / 1e6);
        [bytes, since] = [now, Date.now()];
      }
      const patienceMs = bytes === 0 ? limits.firstByteMs : limits.stalledMs;
      if (Date.now() - since > patienceMs) {
        reason =
          bytes === 0 ? 'no answer' : `the download stopped at ${(bytes / 1e6).toFixed(0)} MB`;
        child.kill('SIGKILL');
      }
    }, 250);
    child.once('error', (error) => (reason = error.message));
    child.once('close', (code) => {
      clearInterval(timer);
      const lastLine = lastOf(out);
      const error = code === 0 ? null : reason || lastOf(err) || `it ended with ${code}`;
      resolve({ error, lastLine });
    });
  });
}

function lastOf(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}

function bytesIn(folder: string): number {
  return readdirSync(folder)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
