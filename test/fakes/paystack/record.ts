import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, record } from './recording.js';
import { startPaystack } from './server.js';

/**
 * Makes each call once at Paystack, in test mode, writes a transcript without anybody's data, and compares it with the
 * fake. Needs PAYSTACK_SECRET_KEY (a test key) and a network; PAYSTACK_BASE_URL names another server.
 */
const { PAYSTACK_SECRET_KEY: key = '', PAYSTACK_BASE_URL: url = 'https://api.paystack.co' } =
  process.env;
if (!key.startsWith('sk_test_')) {
  console.error('paystack:record needs a test key: set PAYSTACK_SECRET_KEY=sk_test_…');
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'paystack-record-'));
const fake = await startPaystack({ dataDir: folder, keys: ['sk_test_inventedkey0000'] });
const theirs = await record({ url, key });
const ours = await record({ url: fake.url, key: 'sk_test_inventedkey0000' });
await fake.close();
rmSync(folder, { recursive: true, force: true });

const file = `paystack-transcript-${new Date().toISOString().slice(0, 10)}.json`;
writeFileSync(
  file,
  `${JSON.stringify({ recorded_at: new Date().toISOString(), calls: theirs }, null, 2)}\n`,
);
console.log(`${theirs.length} calls, written to ${file}`);
const differences = compare(theirs, ours);
for (const { call, field, paystack, fake: known } of differences) {
  console.log(`${call}: ${field || 'the call'} is ${paystack} at Paystack, ${known} at the fake`);
}
console.log(differences.length === 0 ? 'the fake agrees' : `${differences.length} differences`);
