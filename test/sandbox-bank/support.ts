import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const SECRET = 'a-secret-for-tests-only';

const ROOT = join(import.meta.dirname, '../..');
const BANK_FOLDER = 'sandbox-bank';

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'sandbox-bank-'));
}

export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

let references = 0;

/** A reference that no other test uses. */
export function newReference(): string {
  references += 1;
  return `test_${process.pid}_${Date.now().toString(36)}_${references}`;
}

export type TransferBody = {
  reference: string;
  status: string;
  amount_minor: number;
  session_id: string | null;
  code: string | null;
  error?: { code: string; field?: string };
};

export type JournalEntry = {
  seq: number;
  kind: string;
  reference: string;
  client_reference: string;
  amount_minor: number;
  session_id: string;
};

export type Answer<Body> = { status: number; headers: Headers; body: Body };

type Init = {
  method?: string;
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** A plain HTTP client of the bank, independent of the service's adapter. */
export function bankClient(url: string) {
  async function call<Body>(path: string, init: Init = {}): Promise<Answer<Body>> {
    const response = await fetch(url + path, {
      ...init,
      headers: {
        authorization: `Bearer ${SECRET}`,
        'content-type': 'application/json',
        ...init.headers,
      },
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Body,
    };
  }
  const post = <Body>(path: string, body: unknown, init: Init = {}) =>
    call<Body>(path, { method: 'POST', body: JSON.stringify(body), ...init });

  return {
    call,
    post,
    transferRequest: (suffix: string, changes: Record<string, unknown> = {}) => ({
      reference: newReference(),
      client_reference: 'order-1',
      amount_minor: 150_000,
      currency: 'NGN',
      account: `0123456${suffix}`,
      bank_code: '058',
      narration: 'Rent',
      requested_at: new Date().toISOString(),
      ...changes,
    }),
    submit: (transferRequest: Record<string, unknown>, init?: Init) =>
      post<TransferBody>('/v1/transfers', transferRequest, init),
    lookup: (reference: string) => call<TransferBody>(`/v1/transfers/${reference}`),
    async journal(reference: string): Promise<JournalEntry[]> {
      const answer = await call<{ entries: JournalEntry[] }>(
        `/_sandbox/journal?reference=${reference}`,
      );
      return answer.body.entries;
    },
    reportOutcome: (reference: string, outcome: string) =>
      post<TransferBody>(`/_sandbox/transfers/${encodeURIComponent(reference)}`, { outcome }),
    faults: (setting: unknown) => post<unknown>('/_sandbox/faults', setting),
  };
}

export type BankClient = ReturnType<typeof bankClient>;

/** True if there is no answer after `ms`. */
export async function staysSilent(
  call: (init: Init) => Promise<unknown>,
  ms = 250,
): Promise<boolean> {
  const signal = AbortSignal.timeout(ms);
  await call({ signal }).catch(() => {});
  return signal.aborted;
}

/** Polls until `probe` returns a value; fails after `withinMs`. */
export async function eventually<T>(
  probe: () => Promise<T | undefined> | T | undefined,
  withinMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    const found = await probe();
    if (found !== undefined) return found;
    await sleep(25);
  }
  throw new Error('it did not happen in time');
}

export type ReceivedCallback = {
  raw: Buffer;
  headers: Record<string, string | undefined>;
  body: {
    id: string;
    event: string;
    occurred_at: string;
    data: { reference: string; amount_minor: number; session_id: string | null; code?: string };
  };
};

/** A client's callback receiver. It answers 200 unless `status` returns another status. */
export async function startReceiver(status: (callback: ReceivedCallback) => number = () => 200) {
  const received: ReceivedCallback[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const raw = Buffer.concat(chunks);
      const headers = req.headers as ReceivedCallback['headers'];
      const callback = {
        raw,
        headers,
        body: JSON.parse(raw.toString()) as ReceivedCallback['body'],
      };
      received.push(callback);
      res.writeHead(status(callback)).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const about = (reference: string) =>
    received.filter(({ body }) => body.data.reference === reference);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`,
    received,
    about,
    /** The first `count` callbacks about a transfer. */
    wait: (reference: string, count: number) =>
      eventually(() => (about(reference).length >= count ? about(reference) : undefined)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type BankProcess = {
  url: string;
  child: ChildProcess;
  /** Kills the bank at once, like a crash. */
  kill(): Promise<void>;
};

/** Starts the bank as a separate process that can be killed and frozen. */
export async function spawnBank(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<BankProcess> {
  const child = spawn(process.execPath, [join(compiled(), BANK_FOLDER, 'main.js')], {
    env: {
      PATH: process.env['PATH'],
      SANDBOX_BANK_PORT: '0',
      SANDBOX_BANK_DATA: dataDir,
      SANDBOX_BANK_SECRET: SECRET,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const url = await eventually(() => /listening on (\S+)\n/.exec(printed)?.[1]);
  return {
    url,
    child,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

let compiledFolder: string | null = null;
let buildFolder: string | null = null;

/** Removes the build of `spawnBank`; for afterAll. */
export function removeBuild(): void {
  if (buildFolder !== null) removeFolder(buildFolder);
  buildFolder = null;
  compiledFolder = null;
}

/** Returns dist if it is as new as the sources, and otherwise a build in a temporary folder. */
function compiled(): string {
  if (compiledFolder !== null) return compiledFolder;
  compiledFolder = join(ROOT, 'dist');
  if (isUpToDate(join(compiledFolder, BANK_FOLDER))) return compiledFolder;
  const folder = temporaryFolder();
  buildFolder = folder;
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  compiledFolder = join(folder, 'dist');
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const options = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', compiledFolder];
  spawnSync(process.execPath, [compiler, ...options], { stdio: 'ignore' });
  return compiledFolder;
}

function isUpToDate(output: string): boolean {
  const sources = join(ROOT, BANK_FOLDER);
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts'));
  return files.every((name) => {
    const built = statSync(join(output, name.replace(/ts$/, 'js')), { throwIfNoEntry: false });
    return built !== undefined && built.mtimeMs >= statSync(join(sources, name)).mtimeMs;
  });
}

/** The options of an adapter of the sandbox bank at this address. */
export const optionsAt = (url: string, deduplicates = true) => ({
  url,
  secret: SECRET,
  deduplicates,
  deduplicatesForMs: null,
  conclusiveAfterMs: 1_000,
  timeoutMs: 1_500,
  callsPerSecond: 100,
});
