import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const script = join(import.meta.dirname, '..', 'support', 'log-leaks.mjs');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-leaks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function search(logs: Record<string, string>) {
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(folder, name), text);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], {
    encoding: 'utf8',
  });
  return { status, text: `${stdout}${stderr}` };
}

const HARMLESS = '{"level":"info","time":"2026-11-21T09:00:00.123Z","ms":1.5,"pid":1234567}\n';

test.each([
  ['an API key', 'sk_sandbox_0aB1cD2eF3'],
  ['an API key', 'pk_live_0aB1cD2eF3'],
  ['a webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['an account number', '0123456789'],
  ['an account number', '2000000789'],
  ['the name of an account holder', 'ADAEZE OBI'],
  ['the name of an account holder', 'Yetunde Abubakar'],
  ['a secret of the tests', 'a "pepper" of this test'],
])('the search of logs finds %s without repeating it: %s', (kind, leak) => {
  const found = search({
    'secrets.jsonl': `${JSON.stringify('a "pepper" of this test')}\n`,
    'bank.log': HARMLESS,
    'api-1.log': `${HARMLESS}${HARMLESS}{"msg":"sent to ${leak}."}\n`,
  });
  expect(found.status).toBe(1);
  expect(found.text).toContain(`api-1.log:3: ${kind}\n`);
  expect(found.text).not.toContain(leak);
  expect(found.text).not.toContain('bank.log');
});

test('the search of logs reports neither ids, times and masks nor the counters of MongoDB and Temporal', () => {
  const found = search({
    'secrets.jsonl': '"nobody wrote this"\n',
    'worker-1.log':
      `${HARMLESS}sk_sandbox_[redacted] [digits] ten_01jd1a2b3c4d5e6f7g8h9j0k1m 1763715600123 ` +
      `{"seconds":{"low":1795264315,"high":-1035784247}} 0.0123456789 123e4567-e89b-12d3-a456-426614174000\n`,
    'x-mongod.log': '{"ts":{"$timestamp":{"t":1763715600,"i":1}}}\n',
  });
  expect(found).toEqual({ status: 0, text: expect.stringContaining('2 files') });
});

test('the search of logs finds an account number in the log of MongoDB or Temporal', () => {
  const found = search({ 'x-mongod.log': '{"command":{"account":"0123456789"}}\n' });
  expect(found.status).toBe(1);
  expect(found.text).toContain('x-mongod.log:1: an account number');
});

test('the search of logs succeeds on a run without logs', () => {
  expect(search({}).status).toBe(0);
});
