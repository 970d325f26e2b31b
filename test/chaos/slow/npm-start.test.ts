import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { MongoClient } from 'mongodb';
import type { DevFile, Secrets } from '../../../devstack/data-dir.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { listProcesses } from '../../../devstack/processes.js';
import { eventually } from '../../support/eventually.js';
import { collectLogs, noteSecret } from '../../support/logs.js';
import { inTries } from '../../support/tries.js';
import { temporaryFolder } from '../../devstack/support.js';
import { startPaystack } from '../../fakes/paystack/server.js';

/** Each test starts complete copies of the stack, on a machine of any speed. */
const TIME_LIMIT_MS = 600_000;

const supervisors: ChildProcess[] = [];
// Hooks run in the order of their definition: the processes stop before their folder is removed.
afterAll(async () => {
  await Promise.all(supervisors.map(stop));
  for (const name of readdirSync(root)) collectLogsOf(name);
}, TIME_LIMIT_MS);
const root = realpathSync(temporaryFolder());

function collectLogsOf(name: string): void {
  collectLogs(name, join(root, name, 'logs'));
  if (!existsSync(join(root, name, 'secrets.json'))) return;
  const { key_pepper, sealing_keys, bank_secret } = JSON.parse(
    readFileSync(join(root, name, 'secrets.json'), 'utf8'),
  ) as Secrets;
  for (const secret of [key_pepper, sealing_keys, bank_secret]) noteSecret(secret);
}

type Copy = { supervisor: ChildProcess; dev: () => DevFile; printed: () => string };

/** Resolves when the banner is complete. Returns what was printed, at any later time. */
async function untilBanner(child: ChildProcess): Promise<() => string> {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit').then(() => true);
  while (!text.includes('Ctrl-C stops')) {
    if ((await Promise.race([ended, sleep(100)])) === true) throw new Error(text);
  }
  return () => text;
}

/** Starts the supervisor of `npm start` without npm and its set-up; resolves when the banner is complete. */
async function startCopy(name: string, env: NodeJS.ProcessEnv = {}): Promise<Copy> {
  const home = join(root, name);
  const script = join(packageRoot, 'dist', 'devstack', 'start.js');
  const supervisor = spawn(process.execPath, [script], {
    // As if by npm: it stops by itself when jest is killed.
    env: { ...process.env, npm_lifecycle_event: 'start', ...env, BURSAR_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  supervisors.push(supervisor);
  const printed = await untilBanner(supervisor);
  const dev = () => JSON.parse(readFileSync(join(home, 'dev.json'), 'utf8')) as DevFile;
  return { supervisor, dev, printed };
}

async function stop(supervisor: ChildProcess): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return;
  supervisor.kill('SIGTERM');
  await once(supervisor, 'exit');
}

type Transfer = { id: string; status: string; reference: string };

/** Reads from the API, again if a copy that has just started is too busy for an answer. */
const call = (dev: DevFile, path: string): Promise<unknown> =>
  eventually(`an answer to ${path}`, async () => {
    const headers = { authorization: `Bearer ${dev.keys.secret}` };
    const answer = await fetch(`${dev.api_url}/api/v1${path}`, { headers });
    const body = (await answer.json()) as { data: unknown };
    expect({ path, ok: answer.ok, body }).toMatchObject({ ok: true });
    return body.data;
  });

/** Runs the curl command that the copy printed, again if a busy copy refuses it, and returns the transfer when it is terminal. */
async function payAsPrinted({ dev, printed }: Copy): Promise<Transfer> {
  const request = /^curl -s '[^']*\/transfers' [^]*?-d '.*'$/m.exec(printed())?.[0] ?? '';
  const id = await eventually('the printed request is accepted', () => {
    const { stdout: out } = spawnSync('sh', ['-c', request], { encoding: 'utf8' });
    if (!out.includes('"success":true')) throw new Error(out);
    return (JSON.parse(out) as { data: Transfer }).data.id;
  });
  return settled(dev(), id);
}

const settled = (dev: DevFile, id: string): Promise<Transfer> =>
  eventually(`${id} is terminal`, async () => {
    const transfer = (await call(dev, `/transfers/${id}`)) as Transfer;
    return ['pending', 'processing'].includes(transfer.status) ? undefined : transfer;
  });

let started: Promise<[Copy, Copy]> | null = null;
/** Two copies that were started at the same moment. Tests use them one after the other, because a start takes long. */
const twoCopies = () => (started ??= Promise.all([startCopy('left'), startCopy('right')]));

const mentioning = (home: string) =>
  listProcesses().filter(({ args }) => args.join(' ').includes(home));

test(
  'the printed request completes a transfer after each process is killed, and a new start still has it',
  async () => {
    const copy = await startCopy('one');
    const first = await payAsPrinted(copy);
    expect(first.status).toBe('completed');

    // The supervisor restarts each killed process, engines included, at the same address.
    for (const name of ['api', 'worker', 'bank', 'temporal', 'mongod'] as const) {
      const before = copy.dev().pids[name] ?? 0;
      process.kill(before, 'SIGKILL');
      while (copy.dev().pids[name] === before) await sleep(50);
    }
    const ready = () => fetch(`${copy.dev().api_url}/health/ready`).catch(() => null);
    while ((await ready())?.ok !== true) await sleep(100);
    expect((await payAsPrinted(copy)).status).toBe('completed');

    const { keys, tenant: tenantId } = copy.dev();
    copy.supervisor.kill('SIGKILL');
    await once(copy.supervisor, 'exit');
    const left = mentioning(join(root, 'one')).map(({ pid }) => pid);
    expect(left.length).toBeGreaterThanOrEqual(5);

    const again = await startCopy('one');
    expect(again.printed()).toMatch(
      /stopped mongod \(process \d+\), left by a start that was killed/,
    );
    expect(mentioning(join(root, 'one')).filter(({ pid }) => left.includes(pid))).toEqual([]);
    expect(again.dev()).toMatchObject({ keys, tenant: tenantId });
    expect(await settled(again.dev(), first.id)).toEqual(first);

    again.supervisor.kill('SIGINT');
    expect(await once(again.supervisor, 'exit')).toEqual([0, null]);
    expect(mentioning(join(root, 'one'))).toEqual([]);
    expect(existsSync(join(root, 'one', 'dev.json'))).toBe(false);
  },
  TIME_LIMIT_MS,
);

test(
  'transfers show prints the address at which the Temporal UI has the workflow of the transfer',
  async () => {
    const [copy] = await twoCopies();
    const { id } = await payAsPrinted(copy);
    const script = join(packageRoot, 'dist', 'src', 'ops', 'cli', 'main.js');
    const env = { ...process.env, BURSAR_HOME: join(root, 'left') };
    const args = [script, 'transfers', 'show', id, '--json'];
    const { stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const { temporal_page: page } = JSON.parse(stdout) as { temporal_page: string };
    const { temporal_ui_url: ui, temporal_namespace: namespace } = copy.dev();
    const path = `/namespaces/${namespace}/workflows/transfer%2F${id}`;
    expect(page).toBe(`${ui}${path}`);
    const html = await fetch(page);
    expect([html.status, html.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    // The page reads the workflow of its own address from the server of the UI.
    const answer = await fetch(`${ui}/api/v1${path}`);
    expect(await answer.json()).toMatchObject({
      workflowExecutionInfo: { execution: { workflowId: `transfer/${id}` } },
    });
  },
  TIME_LIMIT_MS,
);

/** Temporal's own command line, as `npm run temporal` starts it. */
function temporal(name: string, ...args: string[]): string {
  const script = join(packageRoot, 'dist', 'devstack', 'temporal-cli.js');
  const env = { ...process.env, BURSAR_HOME: join(root, name) };
  return spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' }).stdout;
}

test(
  'two copies started at the same moment share nothing',
  async () => {
    const copies = await twoCopies();
    const [left, right] = copies.map((copy) => copy.dev());
    for (const key of [
      'api_url',
      'mongodb_uri',
      'temporal_address',
      'temporal_ui_url',
      'sandbox_bank_url',
      'tenant',
    ] as const) {
      expect({ key, same: left?.[key] === right?.[key] }).toEqual({ key, same: false });
    }
    const paid = await Promise.all(copies.map(payAsPrinted));
    expect(paid.map(({ status }) => status)).toEqual(['completed', 'completed']);
    // Temporal's list is updated a moment after the workflow starts.
    while (!temporal('left', 'workflow', 'list').includes(String(paid[0]?.id))) await sleep(100);
    expect(temporal('left', 'workflow', 'list')).not.toContain(paid[1]?.id);
  },
  TIME_LIMIT_MS,
);

test(
  'a requested port that is in use is an error, and no process stays running',
  async () => {
    const [taken] = await twoCopies();
    const PORT = new URL(taken.dev().api_url).port;
    await expect(startCopy('second', { PORT })).rejects.toThrow(`Port ${PORT} is taken`);
    expect(mentioning(join(root, 'second'))).toEqual([]);
  },
  TIME_LIMIT_MS,
);

test(
  'a copy whose output is no longer read still stops every process',
  async () => {
    const [copy] = await twoCopies();
    copy.supervisor.stdout?.destroy();
    copy.supervisor.stderr?.destroy();
    // The supervisor restarts the bank and prints that, to a closed pipe.
    process.kill(copy.dev().pids.bank ?? 0, 'SIGKILL');
    expect(await once(copy.supervisor, 'exit')).toEqual([0, null]);
    expect(mentioning(join(root, 'left'))).toEqual([]);
  },
  TIME_LIMIT_MS,
);

test(
  'a copy whose folder was removed still stops every process',
  async () => {
    const [, copy] = await twoCopies();
    const pids = new Set(Object.values(copy.dev().pids).map(Number));
    // mongod may make a file in a folder that is being removed.
    rmSync(join(root, 'right'), { recursive: true, maxRetries: 20, retryDelay: 50 });
    await stop(copy.supervisor);
    expect(listProcesses().filter(({ pid }) => pids.has(pid))).toEqual([]);
  },
  TIME_LIMIT_MS,
);

/** Runs `npm start` in a separate session, as a program does; resolves when the banner is complete. */
async function startByNpm(name: string, env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const npm = spawn('npm', ['start'], {
    cwd: packageRoot,
    env: { ...process.env, ...env, BURSAR_HOME: join(root, name) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  await untilBanner(npm);
  return npm;
}

async function endsAll(npm: ChildProcess, name: string, signal: NodeJS.Signals): Promise<void> {
  const home = join(root, name);
  expect(mentioning(home).length).toBeGreaterThanOrEqual(5);
  // The signal goes to npm alone; a terminal's Ctrl-C would reach its children too.
  process.kill(npm.pid ?? 0, signal);
  await once(npm, 'close');
  expect(mentioning(home)).toEqual([]);
  expect(existsSync(join(home, 'dev.json'))).toBe(false);
}

test(
  'SIGTERM to npm alone stops everything that npm start started',
  async () => {
    const npm = await startByNpm('told-SIGTERM');
    supervisors.push(npm);
    await endsAll(npm, 'told-SIGTERM', 'SIGTERM');
  },
  TIME_LIMIT_MS,
);

/** As if the idempotency keys had ended. */
async function forgetKeys({ mongodb_uri: uri, tenant }: DevFile): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const keys = client.db('bursar_sandbox').collection<{ _id: string }>('idempotency_keys');
    const { deletedCount } = await keys.deleteMany({ _id: { $regex: tenant } });
    expect(deletedCount).toBeGreaterThan(0);
  } finally {
    await client.close();
  }
}

/** The examples in a folder of their own, with the client installed from its package, as examples/README.md says. */
function newExamples(): string {
  const folder = join(root, 'examples');
  cpSync(join(packageRoot, 'examples'), folder, { recursive: true });
  const npm = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    expect({ args, status, stderr }).toMatchObject({ args, status: 0 });
    return stdout;
  };
  const client = join(packageRoot, 'client');
  npm('--prefix', client, 'run', 'prepack');
  const packed = npm('pack', client, '--ignore-scripts', '--pack-destination', folder).trim();
  npm('install', '--no-save', '--offline', join(folder, packed));
  return folder;
}

const forgedHeaders = ({ id }: { id: string }) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
  'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
});

type WebhookEvent = { id: string; event: string; data: { id: string; reference?: string | null } };

/** The example's receiver of webhooks, with an endpoint of the copy's tenant that sends to it. */
async function startReceiver(cwd: string, copy: DevFile, env: NodeJS.ProcessEnv) {
  const receiver = spawn(process.execPath, ['receiver.mjs', '0'], { cwd, env });
  supervisors.push(receiver);
  let printed = '';
  for (const stream of [receiver.stdout, receiver.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  }
  while (!printed.includes('listening on')) await sleep(50);
  const [url = ''] = /http:\S+/.exec(printed) ?? [];
  const bursar = (...args: string[]) => {
    const script = join(packageRoot, 'dist', 'src', 'ops', 'cli', 'main.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd,
      env,
      encoding: 'utf8',
    });
    expect({ args, status, stderr }).toMatchObject({ args, status: 0 });
    return stdout;
  };
  const secretFile = join(cwd, 'webhook-secret');
  const at = ['--tenant', copy.tenant, '--url', url, '--to-file', secretFile];
  bursar('webhooks', 'endpoints', 'add', ...at);
  noteSecret(readFileSync(secretFile, 'utf8').trim());
  const kept = (): WebhookEvent[] => {
    const lines = readFileSync(join(cwd, 'inbox.ndjson'), 'utf8').trim().split('\n');
    const written = lines.filter(Boolean).map((line) => JSON.parse(line) as object);
    return written.filter((line): line is WebhookEvent => 'event' in line);
  };
  /** Resolves when the receiver has an event of this name about the record with this reference. */
  const has = async (event: string, reference: string): Promise<WebhookEvent> => {
    for (;;) {
      const found = kept().find((one) => one.event === event && one.data.reference === reference);
      if (found) return found;
      await sleep(50);
    }
  };
  /** Sends an event again, as an operator does, and waits until it was delivered a second time. */
  async function replay({ id }: WebhookEvent): Promise<void> {
    const replayed = bursar('webhooks', 'events', 'replay', id, '--json');
    const [delivery = ''] = (JSON.parse(replayed) as { deliveries: string[] }).deliveries;
    for (;;) {
      const shown = bursar('webhooks', 'deliveries', 'show', delivery, '--json');
      if ((JSON.parse(shown) as { attempts: object[] }).attempts.length > 1) return;
      await sleep(100);
    }
  }
  return { receiver, url, kept, has, replay, printed: () => printed };
}

test(
  'with a test key of Paystack, transfers go through Paystack',
  async () => {
    const key = 'sk_test_inventedkey0000';
    noteSecret(key);
    const at = { dataDir: join(root, 'paystack-data'), port: 0, webhookUrl: null };
    const paystack = await startPaystack({ ...at, keys: [key], domain: 'test' });
    const env = { PAYSTACK_SECRET_KEY: key, PAYSTACK_BASE_URL: paystack.url };
    const copy = await startCopy('paystack', env);
    expect(await payAsPrinted(copy)).toMatchObject({ status: 'completed', provider: 'paystack' });
    await stop(copy.supervisor);
    await paystack.close();
  },
  TIME_LIMIT_MS,
);

test(
  'the examples run against npm start with the packed client, and SIGINT to npm alone stops everything',
  async () => {
    const npm = await startByNpm('told-SIGINT');
    supervisors.push(npm);
    const cwd = newExamples();
    const env = { PATH: process.env['PATH'], BURSAR_HOME: join(root, 'told-SIGINT') };
    const run = (program: string, name: string) => {
      const ran = spawnSync(process.execPath, [program, name], { cwd, env, encoding: 'utf8' });
      expect({ program, status: ran.status, stderr: ran.stderr }).toEqual({
        program,
        status: 0,
        stderr: '',
      });
      return ran.stdout.trim().split('\n');
    };
    const paid = [
      'first payment: completed, ₦5,000.00',
      'second payment: completed, ₦3,000.00',
      'refund: completed, ₦1,000.00 of ₦3,000.00',
    ];
    const dev = JSON.parse(readFileSync(join(root, 'told-SIGINT', 'dev.json'), 'utf8')) as DevFile;
    const hooks = await startReceiver(cwd, dev, env);
    expect(run('shop.mjs', 'order-1')).toEqual([
      expect.stringMatching(/^send the .* to http/),
      ...paid,
    ]);
    // A second run of the same order finds what the first has done, and nobody pays again.
    expect(run('shop.mjs', 'order-1').slice(-3)).toEqual(paid);
    const first = await hooks.has('charge.completed', 'order-1-first');
    await hooks.has('charge.completed', 'order-1-second');
    await hooks.has('refund.completed', 'order-1-refund');
    // A message that Bursar has not signed is refused, and one that comes again is kept once.
    const forged = { method: 'POST', body: JSON.stringify(first), headers: forgedHeaders(first) };
    expect((await fetch(hooks.url, forged)).status).toBe(400);
    await hooks.replay(first);

    const salaries = [
      'e-01 ₦450,000.00 completed',
      'e-02 ₦380,000.00 completed',
      'e-03 ₦410,000.00 failed, account_closed',
      'e-04 ₦360,000.00 refused, invalid_account',
      '2 paid, 2 to look at',
    ];
    expect(run('payroll.mjs', '2026-11')).toEqual([
      expect.stringMatching(/^accepted btr_/),
      ...salaries,
    ]);
    const before = await call(dev, '/balance');
    expect(run('payroll.mjs', '2026-11')).toEqual([
      'the payroll of 2026-11 was accepted before',
      ...salaries,
    ]);
    const { available_minor } = before as { available_minor: number };
    expect(await call(dev, '/balance')).toMatchObject({ available_minor });
    // A run after the end of the key finds the transfers by their references.
    await forgetKeys(dev);
    expect(run('payroll.mjs', '2026-11')).toEqual([
      expect.stringMatching(/^accepted btr_/),
      ...salaries,
    ]);
    expect(await call(dev, '/balance')).toMatchObject({ available_minor });

    const want = [
      'card: active',
      'fuel: funding completed ₦12,000.00',
      'fuel: payment approved',
      'late-012: funding failed deadline_exceeded',
      'online: funding completed ₦3,000.00',
      'online: payment declined channel_not_allowed',
    ];
    // A busy machine may miss the two seconds of a just-in-time funding; then another driver gets a card.
    const drive = async () => run('card-programme.mjs', `driver-${Date.now()}`);
    expect(await inTries(3, drive, (lines) => isDeepStrictEqual(lines, want))).toEqual(want);
    await hooks.has('transfer.completed', 'salary-2026-11-e-01');
    const ids = hooks.kept().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(hooks.printed().split(`${first.event} ${first.data.id}\n`)).toHaveLength(2);
    await stop(hooks.receiver);
    await endsAll(npm, 'told-SIGINT', 'SIGINT');
  },
  TIME_LIMIT_MS,
);
