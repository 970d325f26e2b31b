import type { DataDir, Secrets } from './data-dir.js';
import { startMongod } from './mongod.js';
import { dataDirMark } from './orphans.js';
import { compiled } from '../src/shared/package-root.js';
import { claimPort, type PortClaim } from './ports.js';
import { launch } from './processes.js';
import type { Service } from './supervise.js';
import { startTemporal } from './temporal.js';

/** The claimed ports of a copy. */
export type Ports = Record<'api' | 'operator' | 'bank' | 'metrics' | 'workerMetrics', PortClaim> &
  Record<'temporal' | 'temporalUi' | 'mongod', PortClaim | null>;

/** The addresses of the engines, ours or the user's. */
export type Addresses = { mongodbUri: string; temporalAddress: string; namespace: string };

/**
 * Claims the default port of each service, or the next free one. A port that the user sets is claimed exactly, or the
 * start fails.
 */
export async function claimPorts(env: NodeJS.ProcessEnv): Promise<Ports> {
  const ownTemporal = !env['TEMPORAL_ADDRESS'];
  const wanted = (variable: string, usual: number) =>
    env[variable]
      ? claimPort(portNumber(variable, env[variable]), { exact: true })
      : claimPort(usual);
  // Sequential: a replacement port must not be the default of a later service.
  return {
    api: await wanted('PORT', 8080),
    operator: await wanted('BURSAR_OPERATOR_PORT', 8081),
    bank: await wanted('SANDBOX_BANK_PORT', 8090),
    metrics: await wanted('BURSAR_METRICS_PORT', 9464),
    workerMetrics: await claimPort(9465),
    temporal: ownTemporal ? await claimPort(7233) : null,
    temporalUi: ownTemporal ? await claimPort(8233) : null,
    mongod: env['MONGODB_URI'] ? null : await claimPort(27_017),
  };
}

function portNumber(variable: string, text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`${variable}=${text} is not a port: a number from 1 to 65535 is.`);
}

/** The addresses of the engines for these ports. */
export function addresses(env: NodeJS.ProcessEnv, ports: Ports): Addresses {
  return {
    mongodbUri:
      env['MONGODB_URI'] ||
      `mongodb://127.0.0.1:${ports.mongod?.port}/?replicaSet=bursar&directConnection=true`,
    temporalAddress: env['TEMPORAL_ADDRESS'] || `127.0.0.1:${ports.temporal?.port}`,
    namespace: env['TEMPORAL_NAMESPACE'] || 'bursar-sandbox',
  };
}

/** The environment of API, worker, bank and command line; the user's settings win where that is safe. */
export function serviceEnvironment(
  env: NodeJS.ProcessEnv,
  { ports, secrets, home }: { ports: Ports; secrets: Secrets; home: DataDir },
): NodeJS.ProcessEnv {
  const { mongodbUri, temporalAddress, namespace } = addresses(env, ports);
  const api = `http://127.0.0.1:${ports.api.port}`;
  return {
    // Shorter than in a deployment, so that a person who watches sees attention being raised.
    BURSAR_ATTENTION_AFTER_MS: '60000',
    BURSAR_POLL_MAX_MS: '15000',
    BURSAR_STALL_TIMEOUT_MS: '10000',
    BURSAR_DEPOSIT_SEARCH_EVERY_MS: '300000',
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    BURSAR_METRICS_HOST: '127.0.0.1',
    BURSAR_KEY_PEPPER: secrets.key_pepper,
    BURSAR_SEALING_KEYS: secrets.sealing_keys,
    SANDBOX_BANK_SECRET: secrets.bank_secret,
    SANDBOX_BANK_PREPARE: 'true',
    ...(ports.temporalUi && {
      BURSAR_TEMPORAL_UI_URL: `http://127.0.0.1:${ports.temporalUi.port}`,
    }),
    ...env,
    BURSAR_ENV: 'sandbox',
    PORT: String(ports.api.port),
    BURSAR_OPERATOR_HOST: '127.0.0.1',
    BURSAR_OPERATOR_PORT: String(ports.operator.port),
    BURSAR_METRICS_PORT: String(ports.metrics.port),
    MONGODB_URI: mongodbUri,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    SANDBOX_BANK_URL: `http://127.0.0.1:${ports.bank.port}`,
    SANDBOX_BANK_PORT: String(ports.bank.port),
    SANDBOX_BANK_HOST: '127.0.0.1',
    SANDBOX_BANK_DATA: home.bankData,
    SANDBOX_BANK_CALLBACK_URL: `${api}/api/v1/webhooks/payments/sandbox-bank`,
    SANDBOX_BANK_CARD_CALLBACK_URL: `${api}/api/v1/webhooks/cards/sandbox-bank`,
  };
}

/** The worker's own settings, which two processes on one host cannot share. */
export const workerEnvironment = (env: NodeJS.ProcessEnv, ports: Ports): NodeJS.ProcessEnv => ({
  ...env,
  BURSAR_METRICS_PORT: String(ports.workerMetrics.port),
});

/** The mongod of a copy, as a supervised service. */
export function mongodService(binary: string, dataDir: DataDir, port: number): Service {
  return {
    name: 'mongod',
    graceMs: 20_000,
    start: (onSpawn) =>
      startMongod({
        binary,
        port,
        onSpawn,
        dataDir: dataDir.mongodData,
        logFile: dataDir.log('mongod'),
      }),
  };
}

/** The Temporal server of a copy, as a supervised service. */
export function temporalService(
  binary: string,
  dataDir: DataDir,
  { port, uiPort, namespace }: { port: number; uiPort: number; namespace: string },
): Service {
  const [dbFile, logFile] = [dataDir.temporalFile, dataDir.log('temporal')];
  return {
    name: 'temporal',
    graceMs: 15_000,
    start: (onSpawn) =>
      startTemporal({ binary, port, uiPort, namespace, onSpawn, dbFile, logFile }),
  };
}

const NODE_SERVICES = {
  bank: { script: compiled('sandbox-bank', 'main.js'), graceMs: 5_000 },
  api: { script: compiled('src', 'main.js'), graceMs: 20_000 },
  // The worker finishes its current activities, for up to 20 s.
  worker: { script: compiled('worker', 'main.js'), graceMs: 30_000 },
  'all-in-one': { script: compiled('worker', 'all-in-one.js'), graceMs: 50_000 },
};

/** Names of the Node processes. */
type NodeServiceName = keyof typeof NODE_SERVICES;

/** A Node process as a supervised service. It counts as started once it exists; readiness is checked separately. */
export function nodeService(
  name: NodeServiceName,
  dataDir: DataDir,
  env: NodeJS.ProcessEnv,
): Service {
  const { script, graceMs } = NODE_SERVICES[name];
  return {
    name,
    graceMs,
    async start(onSpawn) {
      const args = ['--enable-source-maps', script, dataDirMark(dataDir)];
      onSpawn(launch({ command: process.execPath, args, env, logFile: dataDir.log(name) }));
    },
  };
}
