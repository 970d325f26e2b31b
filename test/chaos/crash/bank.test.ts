import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSandboxBank } from '../../../sandbox-bank/server.js';
import {
  bankClient,
  eventually,
  removeBuild,
  removeFolder,
  SECRET,
  spawnBank,
  startReceiver,
  staysSilent,
  temporaryFolder,
  type BankProcess,
  type JournalEntry,
} from '../../sandbox-bank/support.js';

let folder: string;
let running: BankProcess[];

beforeEach(() => {
  folder = temporaryFolder();
  running = [];
});

afterEach(async () => {
  for (const bank of running) await bank.kill();
  removeFolder(folder);
});

afterAll(removeBuild);

async function start(env: Record<string, string> = {}) {
  const bank = await spawnBank(folder, env);
  running.push(bank);
  return { ...bank, ...bankClient(bank.url) };
}

const journalFile = () => join(folder, 'journal.ndjson');

test('a payment answered before kill -9 is in the journal after it, once', async () => {
  const first = await start();
  const answered: string[] = [];
  const sentReferences: string[] = [];
  const callers = Array.from({ length: 16 }, async () => {
    for (;;) {
      const request = first.transferRequest('789');
      sentReferences.push(request.reference);
      const { body } = await first.submit(request);
      if (body.status === 'paid') answered.push(request.reference);
    }
  });
  const stopped = Promise.allSettled(callers);
  await eventually(() => (answered.length > 500 ? true : undefined));
  await first.kill();
  await stopped;

  const second = await start();
  const { body } = await second.call<{ entries: JournalEntry[] }>('/_sandbox/journal');
  const paid = body.entries.map((entry) => entry.reference);
  expect(new Set(paid).size).toBe(paid.length);
  expect(answered.filter((reference) => !paid.includes(reference))).toEqual([]);
  expect(paid.filter((reference) => !sentReferences.includes(reference))).toEqual([]);
  expect(body.entries.map((entry) => entry.seq)).toEqual(paid.map((_, i) => i + 1));
  const session = new Set(body.entries.map((entry) => entry.session_id));
  expect(session.size).toBe(paid.length);
});

test('a torn last line of the journal is cut off, and the lines before it are kept', async () => {
  const options = { dataDir: folder, secret: SECRET };
  const first = await startSandboxBank(options);
  const request = bankClient(first.url).transferRequest('789');
  await bankClient(first.url).submit(request);
  await first.close();
  const size = statSync(journalFile()).size;
  appendFileSync(journalFile(), '[{"kind":"submitted","transfer":1,"order":{"refe');

  const second = await startSandboxBank(options);
  const client = bankClient(second.url);
  expect(statSync(journalFile()).size).toBe(size);
  expect(await client.journal(request.reference)).toHaveLength(1);
  expect((await client.submit(client.transferRequest('788'))).body.status).toBe('paid');
  await second.close();
  const third = await startSandboxBank(options);
  expect((await bankClient(third.url).lookup(request.reference)).body.status).toBe('paid');
  await third.close();
});

test('a journal that is damaged in the middle is rejected at the start', async () => {
  const options = { dataDir: folder, secret: SECRET };
  const bank = await startSandboxBank(options);
  const client = bankClient(bank.url);
  for (const _ of [1, 2]) await client.submit(client.transferRequest('789'));
  await bank.close();
  const lines = readFileSync(journalFile(), 'utf8').split('\n');
  writeFileSync(journalFile(), [lines[0]?.slice(0, -9), ...lines.slice(1)].join('\n'));
  await expect(startSandboxBank(options)).rejects.toThrow('damaged at byte 0');
});

test('a payment and a reversal that were scheduled before kill -9 still happen, with their callbacks', async () => {
  const receiver = await startReceiver();
  const env = { SANDBOX_BANK_CALLBACK_URL: receiver.url };
  const first = await start(env);
  const later = first.transferRequest('001');
  const reversed = first.transferRequest('008');
  const failing = first.transferRequest('007');
  for (const request of [reversed, failing, failing, later]) await first.submit(request);
  await first.kill();
  // Read here: on a slow machine it may be paid before the restarted bank can be asked.
  const paid = readFileSync(journalFile(), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"paid"') && line.includes(later.reference));
  expect(paid).toEqual([]);

  const second = await start(env);
  await receiver.wait(later.reference, 1);
  await receiver.wait(reversed.reference, 1);
  expect((await second.lookup(reversed.reference)).body.status).toBe('reversed');
  expect(await second.journal(later.reference)).toHaveLength(1);
  expect((await second.submit(failing)).status).toBe(500);
  expect((await second.submit(failing)).body.status).toBe('paid');
  await receiver.close();
});

test('a callback that was not accepted before kill -9 is sent again after it', async () => {
  const deaf = await startReceiver(() => 503);
  const first = await start({ SANDBOX_BANK_CALLBACK_URL: deaf.url });
  const request = first.transferRequest('006');
  await first.submit(request);
  await first.reportOutcome(request.reference, 'paid');
  const [missed] = await deaf.wait(request.reference, 1);
  await first.kill();
  await deaf.close();

  const receiver = await startReceiver();
  const second = await start({ SANDBOX_BANK_CALLBACK_URL: receiver.url });
  const [taken] = await receiver.wait(request.reference, 1);
  expect(taken?.body).toEqual(missed?.body);
  expect(await second.journal(request.reference)).toHaveLength(1);
  await receiver.close();
});

test('a request that waited in the socket of a frozen bank is refused after the thaw', async () => {
  const bank = await start({
    SANDBOX_BANK_DEDUPLICATE: 'false',
    SANDBOX_BANK_CONCLUSIVE_AFTER_MS: '4000',
  });
  const stale = bank.transferRequest('789');
  bank.child.kill('SIGSTOP');
  expect(await staysSilent((init) => bank.submit(stale, init))).toBe(true);
  await sleep(4_000);
  bank.child.kill('SIGCONT');

  const fresh = bank.transferRequest('789');
  expect((await bank.submit(fresh)).body.status).toBe('paid');
  await sleep(300);
  expect((await bank.lookup(stale.reference)).status).toBe(404);
  expect(await bank.journal(stale.reference)).toEqual([]);
});

test('SIGTERM stops the bank cleanly although a client waits for an answer that never comes', async () => {
  const bank = await start();
  const silent = bank.submit(bank.transferRequest('005')).catch(() => 'closed');
  await bank.submit(bank.transferRequest('789'));
  bank.child.kill('SIGTERM');
  expect(await silent).toBe('closed');
  await eventually(() => (bank.child.exitCode === null ? undefined : true));
  expect(bank.child.exitCode).toBe(0);
});
