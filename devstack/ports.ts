import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './lock.js';

/** A claimed port; `release` makes it available again. */
export type PortClaim = { port: number; release: () => void };

/** Number of ports that are tried after the preferred one. */
const SPAN = 500;

/**
 * Claims a free port for this process: the preferred one, or (unless `exact`) the next free one. Two processes never
 * get the same port, even before they listen: a claim is a lock file, which ends with its process.
 */
export async function claimPort(preferred: number, { exact = false } = {}): Promise<PortClaim> {
  const folder = join(tmpdir(), `bursar-ports-${userInfo().uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const last = exact ? preferred : Math.min(preferred + SPAN, 65_535);
  for (let port = preferred; port <= last; port += 1) {
    const { release } = tryLock(join(folder, `${port}.lock`));
    if (release === undefined) continue;
    if (await isFree(port)) return { port, release };
    release();
  }
  throw new Error(
    exact
      ? `Port ${preferred} is taken: stop what listens there, or choose another.`
      : `No free port from ${preferred} to ${last}.`,
  );
}

async function isFree(port: number): Promise<boolean> {
  // Both checks are needed: some systems allow a loopback address beside a wildcard listener.
  return !(await answers(port)) && (await canListen(port));
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.setTimeout(1_000, () => finish(true));
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
