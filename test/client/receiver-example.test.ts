import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../support/eventually.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** Kills the receiver once it has kept two events, before it has done the work of either. */
const KILLED_BEFORE_WORK = `
  let kept = 0;
  globalThis.setImmediate = () => (kept += 1) === 2 && process.kill(process.pid, 'SIGKILL');
`;

const folder = mkdtempSync(join(tmpdir(), 'receiver-'));
const inboxFile = join(folder, 'inbox.ndjson');
const running = new Set<ReturnType<typeof spawn>>();

beforeAll(() => {
  const installed = join(folder, 'node_modules', '@bursar', 'client');
  mkdirSync(installed, { recursive: true });
  cpSync(resolve('client/package.json'), join(installed, 'package.json'));
  symlinkSync(resolve('dist/client/src'), join(installed, 'dist'));
  cpSync(resolve('examples/receiver.mjs'), join(folder, 'receiver.mjs'));
  writeFileSync(join(folder, 'webhook-secret'), SECRET);
});

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  rmSync(inboxFile, { force: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The example, with a module that runs before it, and with files of at most so many KiB. */
async function start({ preload = '', fileKib = 'unlimited' } = {}) {
  const imported = preload
    ? ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
    : [];
  const command = ['-c', `ulimit -f ${fileKib}; exec "$@"`, 'bash', process.execPath];
  const child = spawn('bash', [...command, ...imported, 'receiver.mjs', '0'], { cwd: folder });
  running.add(child);
  const exited = once(child, 'exit');
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  }
  const url = await eventually('a receiver that listens', () =>
    Promise.resolve(/listening on (\S+)/.exec(printed)?.[1]),
  );
  return {
    exited,
    kill: () => (child.kill('SIGKILL'), exited),
    worked: () => printed.split('\n').filter((line) => line.startsWith('transfer.')),
    /** The status of the answer; null without one. */
    async send(event: ReturnType<typeof eventOf>) {
      const body = JSON.stringify(event);
      const now = new Date();
      const headers = {
        'webhook-id': event.id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign(event.id, now, body),
      };
      const sent = fetch(url, { method: 'POST', headers, body });
      return sent.then(({ status }) => status).catch(() => null);
    },
  };
}

const eventOf = (id: string, status: string, note = '') => ({
  id,
  event: `transfer.${status}`,
  created_at: new Date().toISOString(),
  sequence: 1,
  data: { id, status, note },
});

const keptIds = () =>
  readFileSync(inboxFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: string })
    .flatMap(({ id }) => id ?? []);

test('the example of a receiver does the work of kept events after a crash before it, oldest first and once', async () => {
  const events = [eventOf('evt_1', 'completed'), eventOf('evt_2', 'failed')] as const;
  const killed = await start({ preload: KILLED_BEFORE_WORK });
  expect(await killed.send(events[0])).toBe(204);
  await killed.send(events[1]);
  await killed.exited;
  expect(killed.worked()).toEqual([]);

  const next = await start();
  const worked = ['transfer.completed evt_1', 'transfer.failed evt_2'];
  expect(next.worked()).toEqual(worked);
  for (const event of events) expect(await next.send(event)).toBe(204);
  expect(await next.send(eventOf('evt_3', 'reversed'))).toBe(204);
  const all = [...worked, 'transfer.reversed evt_3'];
  const isHandled = () => readFileSync(inboxFile, 'utf8').includes('{"handled":"evt_3"}');
  await eventually('the work of a new event', async () =>
    next.worked().length > 2 && isHandled() ? true : undefined,
  );
  expect(next.worked()).toEqual(all);
  await next.kill();

  expect((await start()).worked()).toEqual([]);
  expect(keptIds()).toEqual(['evt_1', 'evt_2', 'evt_3']);
});

test('the example of a receiver keeps nothing of an event that does not fit on the disk, until it comes again', async () => {
  const full = await start({ fileKib: '1' });
  expect(await full.send(eventOf('evt_1', 'completed'))).toBe(204);
  const large = eventOf('evt_2', 'failed', 'x'.repeat(1_000));
  expect(await full.send(large)).toBe(500);
  expect(await full.send(eventOf('evt_3', 'failed'))).toBe(204);
  await full.kill();
  expect(keptIds()).toEqual(['evt_1', 'evt_3']);

  const next = await start();
  expect(await next.send(large)).toBe(204);
  expect(keptIds()).toEqual(['evt_1', 'evt_3', 'evt_2']);
});
