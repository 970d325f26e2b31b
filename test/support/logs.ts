import { appendFileSync, copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The log folder of this run. It is searched after the last test; see log-leaks.mjs. */
function logFolder(): string {
  const folder = process.env['BURSAR_TEST_LOGS'];
  if (folder === undefined)
    throw new Error('BURSAR_TEST_LOGS is not set: run the tests by npm test');
  return folder;
}

/** The log file of a process that a test starts. */
export const logFileOf = (...names: string[]): string =>
  join(logFolder(), `${names.join('-')}.log`);

/** The flags of a process whose commands on data of tenants are watched; see watch-commands.mjs. */
export function watchingCommands(to = join(logFolder(), 'tenant-commands.txt')): string[] {
  const watch = pathToFileURL(join(import.meta.dirname, 'watch-commands.mjs'));
  watch.searchParams.set('to', to);
  return ['--import', watch.href];
}

/** Copies logs that were written elsewhere. */
export function collectLogs(name: string, from: string): void {
  if (!existsSync(from)) return;
  for (const file of readdirSync(from).filter((each) => each.endsWith('.log'))) {
    copyFileSync(join(from, file), join(logFolder(), `${name}-${file}`));
  }
}

/** Adds a secret to the search of this run's logs. */
export function noteSecret(secret: string): void {
  appendFileSync(join(logFolder(), 'secrets.jsonl'), `${JSON.stringify(secret)}\n`);
}

/** Adds the secrets of an environment to the search. */
export function noteSecretsOf(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (/SECRET|PEPPER|PASSWORD|SEALING/.test(name) && value) noteSecret(value);
  }
}
