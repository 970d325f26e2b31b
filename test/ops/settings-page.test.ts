import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { settingsPage } from '../../src/ops/docs/settings.js';
import { commandLineFields } from '../../src/shared/command-line-settings.js';
import { CONFIG_VARIABLES, loadConfig } from '../../src/shared/config.js';
import { packageRoot } from '../../src/shared/package-root.js';

const inRoot = (...parts: string[]) => join(packageRoot, ...parts);
const read = (...parts: string[]) => readFileSync(inRoot(...parts), 'utf8');

/** The cells of the page's row about a setting, without their padding. */
const rowOf = (name: string): string[] => {
  const [line = ''] =
    read('docs', 'settings.md').match(new RegExp(`^\\| \`${name}\` .*$`, 'm')) ?? [];
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
};

test('docs/settings.md is what the schema of the settings gives (npm run openapi)', async () => {
  const kept = inRoot('docs', 'settings.md');
  const style = { ...(await resolveConfig(kept)), parser: 'markdown' };
  expect(read('docs', 'settings.md')).toBe(await format(settingsPage(), style));
});

test('docs/settings.md has every variable that the processes read, once', () => {
  const named = [...read('docs', 'settings.md').matchAll(/^\| `(\w+)`/gm)].map(
    ([, name = '']) => name,
  );
  const ofCommands = Object.keys(commandLineFields);
  expect(named.toSorted()).toEqual([...CONFIG_VARIABLES, ...ofCommands].toSorted());
});

test('docs/settings.md has every variable that commands read for themselves, and none that no command reads', () => {
  const folders = [inRoot('src', 'ops', 'cli'), inRoot('src', 'shared')];
  const sources = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && name !== 'command-line-settings.ts')
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  );
  const byProcesses = new Set(CONFIG_VARIABLES);
  const given = sources.flatMap((text) => [
    ...text.matchAll(/\benv\)?(?:\.|\[')(BURSAR_\w+)/g),
    ...text.matchAll(/^ {2}'(BURSAR_DATABASE_PASSWORD_\w+)',$/gm),
  ]);
  const names = new Set(given.map(([, name = '']) => name));
  const ofCommands = [...names].filter((name) => !byProcesses.has(name));
  expect(ofCommands.toSorted()).toEqual(Object.keys(commandLineFields).toSorted());
});

test('docs/settings.md has the type, default and need of a setting as the process takes them', () => {
  expect(rowOf('PORT').slice(1, 3)).toEqual(['integer, ≥ 0, ≤ 65,535', '`8080`']);
  expect(rowOf('BURSAR_ENV').slice(1, 3)).toEqual(['`sandbox`, `live`', '`sandbox`']);
  expect(rowOf('MONGODB_URI').slice(1, 3)).toEqual(['text', '**required**']);
  expect(rowOf('BURSAR_KEY_PEPPER').slice(1, 3)).toEqual(['text', '**required**']);
  expect(rowOf('BURSAR_WEBHOOK_ALLOW_PRIVATE').slice(1, 3)).toEqual(['`true`, `false`', '`false`']);
  expect(rowOf('BURSAR_METRICS_PORT').slice(1, 3)).toEqual(['integer, ≥ 1, ≤ 65,535', '–']);
  expect(rowOf('BURSAR_DUNNING_DAYS').slice(1, 3)).toEqual([
    'list of: number, > 0, ≤ 90',
    '`1,3,5,7`',
  ]);
});

test('the variables that docs/settings.md says are required are those without which nothing starts', () => {
  const required = CONFIG_VARIABLES.filter((name) => rowOf(name)[2] === '**required**');
  const error = () => loadConfig({ SANDBOX_BANK_SECRET: 'a secret of the tests' });
  const missing = [...messageOf(error).matchAll(/^ {2}(\w+): /gm)].map(([, name = '']) => name);
  expect(missing.toSorted()).toEqual(required.toSorted());
});

test('docs/settings.md says what live asks of each setting that live refuses and the sandbox takes', () => {
  const env = {
    MONGODB_URI: 'mongodb://db.example',
    TEMPORAL_ADDRESS: 'temporal.example:7233',
    BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
    BURSAR_SEALING_KEYS: `test:${Buffer.from('0'.repeat(32)).toString('base64')}`,
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    BURSAR_FAILPOINT: 'claim.written',
    BURSAR_PROVIDER_CARDS: 'sandbox-bank',
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    PAYSTACK_SECRET_KEY: 'sk_test_abcdefghij',
    PAYSTACK_BASE_URL: 'http://127.0.0.1:8095',
  };
  expect(loadConfig(env).environment).toBe('sandbox');
  const live = { ...env, BURSAR_ENV: 'live', BURSAR_KEY_PEPPER: 'x'.repeat(40) };
  const connections = {
    BURSAR_ENV: 'live',
    BURSAR_LIVE_REHEARSAL: 'true',
    MONGODB_URI: env.MONGODB_URI,
    TEMPORAL_ADDRESS: env.TEMPORAL_ADDRESS,
    BURSAR_KEY_PEPPER: env.BURSAR_KEY_PEPPER,
    BURSAR_SEALING_KEYS: `test:${Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64')}`,
    SANDBOX_BANK_SECRET: env.SANDBOX_BANK_SECRET,
  };
  const refused = [live, connections].flatMap((each) =>
    [...messageOf(() => loadConfig(each)).matchAll(/^ {2}(\w+): /gm)].map(([, name = '']) => name),
  );
  expect(refused).toEqual(
    expect.arrayContaining([
      'BURSAR_WEBHOOK_ALLOW_PRIVATE',
      'BURSAR_KEY_PEPPER',
      'BURSAR_SEALING_KEYS',
      'PAYSTACK_SECRET_KEY',
      'BURSAR_PROVIDER_CARDS',
      'MONGODB_URI',
      'TEMPORAL_ADDRESS',
    ]),
  );
  for (const name of refused)
    expect({ name, live: rowOf(name)[4] }).not.toEqual({ name, live: '' });
});

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was taken');
}
