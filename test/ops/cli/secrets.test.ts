import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { addCommands } from '../../../src/ops/cli/commands.js';
import { newProgram } from '../../../src/ops/cli/program.js';
import { bursar } from '../../support/cli.js';
import { shareListening, type Listening } from '../../support/listening.js';

type Value = { command: string; name: string };

/** Every option and argument that takes a value, of every command. */
function valuesOf(command: Command, path = ''): Value[] {
  const at = `${path} ${command.name()}`.trim();
  const options = command.options
    .filter(({ required, optional }) => required || optional)
    .map((option) => ({ command: at, name: option.attributeName() }));
  const given = command.registeredArguments.map((each) => ({ command: at, name: each.name() }));
  return [...options, ...given, ...command.commands.flatMap((each) => valuesOf(each, at))];
}

/** The process list shows the values of options and arguments, and shells keep them. */
const SECRET =
  /key|secret|token|password|passphrase|pepper|credential|pin$|pan$|cvv|cvc|authorization/i;

/** Names of records, which are no secrets. */
const NAMES = new Set([
  'bursar keys rotate key',
  'bursar keys revoke key',
  'bursar operators revoke-key key',
  'bursar payment-tokens show payment-token',
  'bursar card-authorizations show authorization',
  'bursar card-authorizations verify authorization',
  'bursar card-authorizations acknowledge authorization',
]);

test('no option and no argument of any command takes a secret', async () => {
  const program = newProgram();
  await addCommands(program, () => true);
  const values = valuesOf(program);
  expect(values.length).toBeGreaterThan(100);
  const suspicious = values
    .filter(({ name }) => SECRET.test(name) && name !== 'idempotencyKey')
    .map(({ command, name }) => `${command} ${name}`);
  expect(suspicious.filter((each) => !NAMES.has(each))).toEqual([]);
});

describe('a new secret', () => {
  let all: Listening;
  let folder: string;
  beforeAll(async () => {
    all = await shareListening();
    folder = mkdtempSync(join(tmpdir(), 'bursar-secrets-'));
  });
  afterAll(async () => {
    await all?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (line: string) => bursar(`${line} --json`, all.service.env);

  test('goes to a file that only its owner can read, and not to the terminal', async () => {
    const tenant = (await all.service.tenant()).id;
    const { url } = await all.receiver();
    const made: [string, RegExp][] = [
      [`keys create --tenant ${tenant} --level read`, /^sk_sandbox_\w+\n$/],
      [`webhooks endpoints add --tenant ${tenant} --url ${url}`, /^whsec_\S+\n$/],
      [
        `operators create --name Ada --email a${Date.now()}@example.com --role viewer`,
        /^op_sandbox_\w+\n$/,
      ],
    ];
    for (const [index, [line, form]] of made.entries()) {
      const path = join(folder, `secret-${index}`);
      const { code, out } = await run(`${line} --to-file ${path}`);
      const content = readFileSync(path, 'utf8');
      expect([line, code, form.test(content)]).toEqual([line, 0, true]);
      expect(out).not.toContain(content.trim());
      expect(JSON.parse(out)).toMatchObject({ id: expect.any(String), written_to: path });
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });

  test('replaces no file, and a command that makes none leaves none', async () => {
    const path = join(folder, 'taken');
    const tenant = (await all.service.tenant()).id;
    const line = `keys create --tenant ${tenant} --level read --to-file ${path}`;
    expect((await run(line.replace(tenant, 'ten_nobody'))).code).toBe(1);
    expect(existsSync(path)).toBe(false);
    expect((await run(line)).code).toBe(0);
    const before = readFileSync(path, 'utf8');
    const keys = () => all.service.deps.apiKeys.list(tenant);
    const count = (await keys()).length;
    const again = await run(line);
    expect([again.code, again.error]).toEqual([1, expect.stringContaining('exists already')]);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(await keys()).toHaveLength(count);
  });
});
