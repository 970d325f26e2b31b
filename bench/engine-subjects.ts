import { join } from 'node:path';
import { launch } from '../devstack/processes.js';
import { installPackages, PACKAGES } from './peers/packages.js';
import { findPostgres, startPostgres } from '../devstack/postgres.js';
import { answers, type Stack } from './stack.js';
import { nextBody, poolOf, post, timed, type TransferSubject } from './transfer-subjects.js';

/** Environment and secret of the bank, and the processes that every subject shares. */
type Shared = {
  env: NodeJS.ProcessEnv;
  bankSecret: string;
  processes: { client: number; bank: number };
};

/**
 * Starts services on other durable engines. Each takes a POST, makes the bank's call as one durable step, and answers when
 * the transfer is completed. An engine that this machine can't have is left out, and a line says so.
 */
export async function startEngineSubjects(
  stack: Stack,
  shared: Shared,
  mostClients: number,
): Promise<Record<string, TransferSubject>> {
  const packages = installPackages();
  const env = { ...shared.env, [PACKAGES]: packages };
  return {
    ...(await startDbos(stack, { ...shared, env }, mostClients)),
    ...(await startRestate(stack, { ...shared, env }, { packages, mostClients })),
  };
}

async function startDbos(
  stack: Stack,
  { env, bankSecret, processes }: Shared,
  mostClients: number,
): Promise<Record<string, TransferSubject>> {
  const bin = findPostgres();
  if (bin === null) {
    process.stderr.write(
      'DBOS is left out: PostgreSQL is not installed (apt-get install postgresql)\n',
    );
    return {};
  }
  const port = await stack.freePort();
  const postgres = startPostgres({
    bin,
    folder: stack.folder,
    port,
    logFile: stack.logOf('postgres'),
  });
  stack.onSpawn(postgres.process);
  await stack.until('postgres', () => Promise.resolve(postgres.isReady()));
  const apiPort = await stack.freePort();
  const service = stack.node('dbos', {
    ...env,
    PORT: String(apiPort),
    BENCH_POSTGRES_URL: postgres.url,
  });
  const url = `http://127.0.0.1:${apiPort}`;
  await stack.until('dbos', async () => (await fetch(url)).status === 401);
  const pool = poolOf(url, mostClients);
  const headers = { authorization: `Bearer ${bankSecret}` };
  return {
    dbos: {
      processes: { ...processes, api: service.pid, engine: postgres.process.pid },
      act: async (postMs) => void (await timed(postMs, () => post(pool, '/', headers, nextBody()))),
    },
  };
}

async function startRestate(
  stack: Stack,
  { env, processes }: Shared,
  { packages, mostClients }: { packages: string; mostClients: number },
): Promise<Record<string, TransferSubject>> {
  const ports = [await stack.freePort(), await stack.freePort()] as const;
  const [nodePort, servicePort] = [await stack.freePort(), await stack.freePort()];
  const [ingress, admin] = ports.map((port) => `127.0.0.1:${port}`) as [string, string];
  const platform = `restate-server-${process.platform}-${process.arch}`;
  const server = launch({
    command: join(packages, 'node_modules', '@restatedev', platform, 'bin', 'restate-server'),
    args: ['--no-logo'],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: join(stack.folder, 'restate'),
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
      RESTATE_INGRESS__BIND_ADDRESS: ingress,
      RESTATE_ADMIN__BIND_ADDRESS: admin,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
      DO_NOT_TRACK: '1',
    },
    logFile: stack.logOf('restate'),
  });
  stack.onSpawn(server);
  const service = stack.node('restateService', { ...env, PORT: String(servicePort) });
  await stack.until('restate', () => answers(`http://${admin}/health`));
  await stack.until('restate', async () => {
    const { ok } = await fetch(`http://${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}` }),
    });
    return ok;
  });
  const pool = poolOf(`http://${ingress}`, mostClients);
  return {
    restate: {
      processes: { ...processes, api: service.pid, engine: server.pid },
      async act(postMs) {
        const body = nextBody();
        const headers = { 'idempotency-key': body.reference };
        await timed(postMs, () => post(pool, '/transfers/create', headers, body, 200));
      },
    },
  };
}
