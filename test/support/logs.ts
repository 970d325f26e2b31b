import { appendFileSync, copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The one folder for the logs of this run. After the last test all of it is searched: see log-leaks.mjs. */
function logFolder(): string {
  const folder = process.env['BURSAR_TEST_LOGS'];
  if (folder === undefined)
    throw new Error('BURSAR_TEST_LOGS is not set: run the tests by npm test');
  return folder;
}

/** Where a process that a test starts has to write its log. */
export const logFileOf = (...names: string[]): string =>
  join(logFolder(), `${names.join('-')}.log`);

/** Logs that were written elsewhere. */
export function collectLogs(name: string, from: string): void {
  if (!existsSync(from)) return;
  for (const file of readdirSync(from).filter((each) => each.endsWith('.log'))) {
    copyFileSync(join(from, file), join(logFolder(), `${name}-${file}`));
  }
}

/** Has the logs of this run searched for this, too. */
export function noteSecret(secret: string): void {
  appendFileSync(join(logFolder(), 'secrets.jsonl'), `${JSON.stringify(secret)}\n`);
}

/** The same for whatever an environment calls a secret. */
export function noteSecretsOf(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (/SECRET|PEPPER|PASSWORD/.test(name) && value) noteSecret(value);
  }
}
