// Searches the logs of a test run (the folder is the argument) for secrets and personal data. Prints file, line and
// kind of each finding, never the text. Exits with 1 if there is any.
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { FAMILY_NAMES, GIVEN_NAMES } from '../../dist/sandbox-bank/shared/directory.js';

/** Secrets of the tests, one JSON string a line; see logs.ts. */
const SECRETS_FILE = 'secrets.jsonl';
const MAX_SHOWN = 20;

const holder = new RegExp(
  `\\b(?:${GIVEN_NAMES.join('|')})\\s+(?:${FAMILY_NAMES.join('|')})\\b`,
  'i',
);
const PATTERNS = [
  ['an API key', /\b[sp]k_(?:sandbox|live)_[0-9A-Za-z]/],
  ['a webhook secret', /\bwhsec_[0-9A-Za-z+/]/],
  ['the name of an account holder', holder],
  ['the token of a prepaid meter', /(?<![\w-])\d{4}(?:-\d{4}){4}(?![\w-])/],
];
/** Excludes the halves of 64-bit numbers in the times of Temporal's SDK. */
const OURS = [['an account number', /(?<![\w.]|"(?:low|high)":-?)\d{10}(?!\w)/]];
/**
 * MongoDB and Temporal log times and counters with as many digits, so only the account numbers of most tests are
 * searched there.
 */
const ENGINES = [['an account number', /(?<![\w.])012345\d{4}(?!\w)/]];

const folder = process.argv[2];
const files = readdirSync(folder).filter((name) => name.endsWith('.log'));
const secrets = readSecrets(join(folder, SECRETS_FILE));
const leaks = [];
for (const file of files.toSorted()) await search(file);

if (leaks.length > 0) {
  const more = leaks.length > MAX_SHOWN ? [`  and ${leaks.length - MAX_SHOWN} more`] : [];
  console.error(
    ['Logs contain secrets or personal data:', ...leaks.slice(0, MAX_SHOWN), ...more].join('\n'),
  );
  process.exitCode = 1;
} else {
  console.log(`Logs of this run: ${files.length} files, no secret and no personal data in them.`);
}

async function search(file) {
  const patterns = [...PATTERNS, ...(/(?:mongod|temporal)\.log$/.test(file) ? ENGINES : OURS)];
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(join(folder, file)) })) {
    number += 1;
    const kinds = patterns.filter(([, pattern]) => pattern.test(line)).map(([kind]) => kind);
    if (secrets.some((secret) => line.includes(secret))) kinds.push('a secret of the tests');
    for (const kind of kinds) leaks.push(`  ${file}:${number}: ${kind}`);
  }
}

function readSecrets(file) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return [...new Set(lines)].map((line) => JSON.parse(line));
}
