import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from './lock.js';

/**
 * The content of dev.json: addresses and pids of a running copy, for scripts and the command line. A pid is null for
 * an engine of the user's own.
 */
export type DevFile = {
  api_url: string;
  docs_url: string;
  /** The operator API, which the command line talks to. */
  operator_url: string;
  temporal_ui_url: string | null;
  temporal_address: string;
  temporal_namespace: string;
  mongodb_uri: string;
  sandbox_bank_url: string;
  /** Metrics of the API and of the worker; Prometheus reads both. */
  metrics_url: string;
  worker_metrics_url: string;
  tenant: string;
  keys: { secret: string; public: string };
  /** Keys of two operators, so that one can approve the requests of the other. */
  operators: { operator: string; approver: string };
  pids: Record<'api' | 'worker' | 'bank' | 'temporal' | 'mongod', number | null>;
};

/** Generated once. Stored keys are useless without the pepper, so the secrets are kept next to the data. */
export type Secrets = {
  /** Layout of everything in the folder: databases, workflow histories, the sandbox bank's files. */
  layout: typeof LAYOUT;
  key_pepper: string;
  sealing_keys: string;
  bank_secret: string;
  demo: {
    tenant: string;
    secret: string;
    public: string;
    operators?: { operator: string; approver: string };
  } | null;
};

/** The locked folder of one copy. */
export type DataDir = {
  path: string;
  mongodData: string;
  temporalFile: string;
  bankData: string;
  log(name: string): string;
  secrets(): Secrets;
  saveSecrets(secrets: Secrets): void;
  writeDevFile(content: DevFile): void;
  removeDevFile(): void;
  /** From now on another start waits for this copy to stop instead of failing. */
  markStopping(): void;
  release(): void;
};

/** Raised by a change that cannot read the data of earlier versions. Folders without a layout are older than 1. */
const LAYOUT = 1;

/** Time limit for a running supervisor to announce that it is stopping. */
const NOTICE_MS = 2_000;
const STOPPING_LIMIT_MS = 120_000;

/**
 * Opens the folder of a copy for this process alone. Throws if a running `npm start` holds it; waits for one that is
 * stopping.
 */
export async function openDataDir(folder: string, log: (line: string) => void): Promise<DataDir> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = realpathSync(folder);
  const release = await lockDataDir(path, log);
  const at = (name: string) => join(path, name);
  rmSync(at('stopping'), { force: true });
  mkdirSync(at('logs'), { recursive: true, mode: 0o700 });
  return {
    path,
    mongodData: at('mongod'),
    temporalFile: at('temporal.db'),
    bankData: at('bank'),
    log: (name) => join(path, 'logs', `${name}.log`),
    secrets: () => readSecrets(at('secrets.json')),
    saveSecrets: (secrets) => writeWhole(at('secrets.json'), secrets),
    writeDevFile: (content) => writeWhole(at('dev.json'), content),
    removeDevFile: () => rmSync(at('dev.json'), { force: true }),
    markStopping: () => writeFileSync(at('stopping'), ''),
    release() {
      rmSync(at('stopping'), { force: true });
      release();
    },
  };
}

async function lockDataDir(path: string, log: (line: string) => void): Promise<() => void> {
  const began = Date.now();
  let reported = false;
  for (;;) {
    const { release, holder } = tryLock(join(path, 'supervisor.lock'));
    if (release !== undefined) return release;
    const stopping = existsSync(join(path, 'stopping'));
    if (Date.now() - began > (stopping ? STOPPING_LIMIT_MS : NOTICE_MS)) {
      throw new Error(
        `Bursar is already running from ${path} (process ${holder.pid}).\n` +
          `Stop it with Ctrl-C, or run a second copy with its own folder: BURSAR_HOME=/some/folder npm start`,
      );
    }
    if (stopping && !reported) log(`process ${holder.pid} is still stopping; waiting for it …`);
    reported ||= stopping;
    await sleep(100);
  }
}

function readSecrets(file: string): Secrets {
  if (!existsSync(file)) {
    const secrets = {
      layout: LAYOUT,
      key_pepper: random(),
      sealing_keys: newSealingKey(),
      bank_secret: random(),
      demo: null,
    } as const;
    writeWhole(file, secrets);
    return secrets;
  }
  const secrets = parseSecrets(file);
  if (secrets.layout === LAYOUT) return withSealingKeys(file, secrets);
  throw new Error(
    `${dirname(file)} has the layout of another version of Bursar, which this version cannot read.\n` +
      `Its data is for development only: delete .bursar (${dirname(file)}) and start again.`,
  );
}

/** A folder of an earlier version has no sealing key, and nothing that is sealed under one. */
function withSealingKeys(file: string, secrets: Secrets): Secrets {
  if (secrets.sealing_keys) return secrets;
  const completed = { ...secrets, sealing_keys: newSealingKey() };
  writeWhole(file, completed);
  return completed;
}

const newSealingKey = () => `dev:${randomBytes(32).toString('base64')}`;

function parseSecrets(file: string): Secrets {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
  } catch {
    // The message must not quote the file's content.
    throw new Error(`${file} is not readable as JSON: put back its backup, or delete the folder.`);
  }
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

/** Writes a file beside it and renames that: a reader sees the old or the new content. Only the owner may read it. */
function writeWhole(file: string, content: object): void {
  const draft = `${file}.next`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
}
