import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloadOfficial } from '../../devstack/official-downloads.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();
const quiet = () => {};

/** A downloader that behaves as the test wants; what it gets is `<version> <folder>`. */
function downloader(code: string): string {
  const file = join(mkdtempSync(join(root, 'downloader-')), 'download.mjs');
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs';\nconst folder = process.argv[3];\n${code}`,
  );
  return file;
}

test('a downloaded engine is stored under its name, as an executable', async () => {
  const folder = mkdtempSync(join(root, 'target-'));
  const script = downloader(
    "writeFileSync(folder + '/temporal-v1', 'x'); console.log(folder + '/temporal-v1');",
  );
  const { file } = await downloadOfficial('temporal', folder, process.env, quiet, { script });
  expect(readFileSync(join(folder, file), 'utf8')).toBe('x');
  expect(statSync(join(folder, file)).mode & 0o111).not.toBe(0);
});

test('a download found elsewhere is copied, not taken away', async () => {
  const folder = mkdtempSync(join(root, 'target-'));
  const elsewhere = join(root, 'temporal-of-another-program');
  writeFileSync(elsewhere, 'x');
  const script = downloader(`console.log(${JSON.stringify(elsewhere)});`);
  const { file } = await downloadOfficial('temporal', folder, process.env, quiet, { script });
  expect(readFileSync(join(folder, file), 'utf8')).toBe('x');
  expect(readFileSync(elsewhere, 'utf8')).toBe('x');
});

test('a download without a first byte in time is abandoned', async () => {
  const folder = mkdtempSync(join(root, 'target-'));
  const script = downloader('setInterval(() => {}, 1000);');
  const limits = { firstByteMs: 300, stalledMs: 60_000 };
  await expect(
    downloadOfficial('temporal', folder, process.env, quiet, { script, limits }),
  ).rejects.toThrow('no answer');
});

test('a download that stops half-way is abandoned', async () => {
  const folder = mkdtempSync(join(root, 'target-'));
  const script = downloader(
    "writeFileSync(folder + '/part', Buffer.alloc(3e6)); setInterval(() => {}, 1000);",
  );
  const limits = { firstByteMs: 60_000, stalledMs: 300 };
  await expect(
    downloadOfficial('temporal', folder, process.env, quiet, { script, limits }),
  ).rejects.toThrow('the download stopped at 3 MB');
});
