import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILY_NAMES, GIVEN_NAMES } from '../../../sandbox-bank/shared/directory.js';
import {
  CONTROLS,
  missingControls,
  plantControls,
  searchFiles,
  type Sought,
} from '../../support/data-files.js';
import { newCustomer } from '../../support/payments.js';
import type { ChaosCluster } from './cluster.js';

/** The beginning of the numbers of identity checks in a random-fault run. */
export const CHECKED_NUMBER = '22817065';

/** Data that workloads plant, and that is nowhere in clear: recipients, account holders, senders, meters, keys, secrets. */
const PLANTED: readonly Sought[] = [
  ['an account number', /(?<![0-9A-Za-z])012345\d{4}(?![0-9A-Za-z])/],
  ['the number of an identity check', new RegExp(`${CHECKED_NUMBER}\\d{3}`)],
  ['the number of a meter', /4503061\d{3}/],
  ['the name of a sender', /\bSender \d+ /],
  ['an API key', /\b[sp]k_(?:sandbox|live)_[0-9A-Za-z]/],
  ['a webhook secret', /\bwhsec_[0-9A-Za-z+/]/],
  ["a provider's authorization", /\bauthz_[0-9a-f]/],
  ['the token of a prepaid meter', /(?<![\w-])\d{4}(?:-\d{4}){4}(?![\w-])/],
  [
    'the name of an account holder',
    new RegExp(`\\b(?:${GIVEN_NAMES.join('|')})\\s+(?:${FAMILY_NAMES.join('|')})\\b`, 'i'),
  ],
];

/** That data, the customers of the run, and the secrets for which logs are searched (test/support/logs.ts). */
export function secretsAndPersonalData(): readonly Sought[] {
  const file = join(String(process.env['BURSAR_TEST_LOGS']), 'secrets.jsonl');
  const noted = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
  const { email, name } = newCustomer();
  return [
    ...PLANTED,
    ...[...noted].map((line) => ['a secret of the tests', JSON.parse(line) as string] as const),
    ['the e-mail address of a customer', email],
    ['the name of a customer', name],
  ];
}

/** Searches every byte of the files of MongoDB and Temporal. Nothing else writes them then. */
export async function leaksInDataFiles({ service, dataFolders }: ChaosCluster): Promise<string[]> {
  const { database, temporal } = service.deps;
  await plantControls(database.db, temporal.client);
  const found = await searchFiles(dataFolders, [...secretsAndPersonalData(), ...CONTROLS]);
  const leaks = found.filter((each) => !CONTROLS.some(([what]) => each.startsWith(what)));
  return [...leaks, ...missingControls(found)];
}

/** Each worker logs it: a search that does not find it would find no leak either. */
const LOGGED: Sought = ['the control of logs', 'worker is running'];

/** Searches every byte of the logs of this run. */
export async function leaksInLogFiles(): Promise<string[]> {
  const logs = String(process.env['BURSAR_TEST_LOGS']);
  const found = await searchFiles([logs], [...secretsAndPersonalData(), LOGGED]);
  const inLogs = found.filter((each) => each.endsWith('.log'));
  const leaks = inLogs.filter((each) => !each.startsWith(LOGGED[0]));
  return inLogs.length > leaks.length ? leaks : [...leaks, 'the logs are not readable'];
}
