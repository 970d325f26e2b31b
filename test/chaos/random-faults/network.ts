import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../../devstack/processes.js';
import { cacheFolder } from '../../../devstack/paths.js';
import { claimPort } from '../../../devstack/ports.js';
import { createTemporaryFolder } from '../../../devstack/temporary-folder.js';
import { answers } from '../../support/processes.js';
import { eventually } from '../../support/eventually.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { logFileOf } from '../../support/logs.js';

const PROGRAM = 'github.com/Shopify/toxiproxy/v2/cmd/server';
/** Names the release of toxiproxy, and has the hash of every module that it is built from. */
const MODULE = join(packageRoot, 'test', 'chaos', 'random-faults', 'toxiproxy');

/** A network link between two processes that can be cut, delayed, or reset. */
export type Link = {
  name: string;
  /** Port of the proxy, used instead of the port behind it. */
  port: number;
  /** Ends all connections, and takes no new ones until `heal`. */
  cut(): Promise<void>;
  delay(ms: number): Promise<void>;
  reset(): Promise<void>;
  heal(): Promise<void>;
};

/** Starts toxiproxy, which Go builds the first time. Null without Go: then only the bank's own faults disturb requests. */
export async function openNetwork() {
  const binary = findToxiproxy();
  if (binary === null) return null;
  const folder = createTemporaryFolder();
  const { port } = await claimPort(27_600);
  const proxy = launch({
    command: binary,
    args: ['-host', '127.0.0.1', '-port', String(port)],
    logFile: logFileOf('toxiproxy'),
  });
  folder.note(proxy.pid);
  const api = `http://127.0.0.1:${port}`;
  const isUp = answers(`${api}/version`);
  await eventually('toxiproxy answers', async () => ((await isUp()) ? true : undefined));

  return {
    /** A link to what listens on this port. */
    async link(name: string, to: number): Promise<Link> {
      const { port: from } = await claimPort(27_700);
      const listen = `127.0.0.1:${from}`;
      await call(api, 'POST', '/proxies', { name, listen, upstream: `127.0.0.1:${to}` });
      const set = (enabled: boolean) => call(api, 'POST', `/proxies/${name}`, { enabled });
      const poison = (type: string, attributes: object) =>
        call(api, 'POST', `/proxies/${name}/toxics`, { name: 'toxic', type, attributes });
      return {
        name,
        port: from,
        cut: () => set(false),
        delay: (ms) => poison('latency', { latency: Math.round(ms), jitter: Math.round(ms / 2) }),
        reset: () => poison('reset_peer', { timeout: 0 }),
        async heal() {
          await call(api, 'DELETE', `/proxies/${name}/toxics/toxic`, undefined, [404]);
          await set(true);
        },
      };
    },
    close: () => folder.remove(),
  };
}

async function call(
  api: string,
  method: string,
  path: string,
  body: object | undefined,
  alsoFine: number[] = [],
): Promise<void> {
  const response = await fetch(`${api}${path}`, {
    method,
    signal: AbortSignal.timeout(10_000),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok || alsoFine.includes(response.status)) return;
  throw new Error(`toxiproxy: ${method} ${path}: ${response.status} ${text}`);
}

/** In the user's cache, beside the engines. */
function findToxiproxy(): string | null {
  const cache = cacheFolder(process.env);
  const release = /toxiproxy\/v2 v(\S+)/.exec(readFileSync(join(MODULE, 'go.mod'), 'utf8'))?.[1];
  const folder = join(cache, `toxiproxy-${release}-${process.platform}-${process.arch}`);
  const binary = join(folder, 'server');
  if (existsSync(binary)) return binary;
  if (spawnSync('go', ['version']).status !== 0) return null;
  console.log('building toxiproxy …');
  mkdirSync(cache, { recursive: true });
  const staging = mkdtempSync(join(cache, '.fetching-'));
  try {
    const { status, stderr } = spawnSync('go', ['build', '-o', join(staging, 'server'), PROGRAM], {
      cwd: MODULE,
      env: { ...process.env, GOFLAGS: '-mod=readonly' },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`go build ${PROGRAM}: ${stderr}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return binary;
}
