import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { addCommands, COMMANDS } from '../../../src/ops/cli/commands.js';
import { run } from '../../support/cli.js';

const root = join(import.meta.dirname, '..', '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  bin: { bursar: string };
};
const program = join(root, manifest.bin.bursar);
const bursar = (...args: string[]) => run(process.execPath, [program, ...args], {});

/** The packages that a program imports statically. Later `import()` calls are not included. */
function packagesAtStart(file: string, visited = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (visited.has(file)) return packages;
  visited.add(file);
  const imports = /^(?:import '|(?:import|export)\b[^'"();=]*? from ')([^']+)'/gm;
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
    const next = join(dirname(file), specifier);
    if (!specifier.startsWith('.')) packages.add(specifier);
    else if (existsSync(next))
      for (const name of packagesAtStart(next, visited)) packages.add(name);
  }
  return packages;
}

test('the help waits for the parser of options alone: each command is loaded when it is used', () => {
  const packages = [...packagesAtStart(program)].filter((name) => !name.startsWith('node:'));
  expect(packages).toEqual(['commander']);
});

test('the help lists every command with its description', async () => {
  const { code, out } = await bursar('--help');
  expect(code).toBe(0);
  for (const { name, description } of COMMANDS) {
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`${name} ${description}`);
  }
});

test('each command adds itself under the name that the help has, and knows its description', async () => {
  const whole = new Command('bursar');
  await addCommands(whole, () => true);
  expect(whole.commands.map((command) => [command.name(), command.description()])).toEqual(
    COMMANDS.map(({ name, description }) => [name, description]),
  );
});

test('every command and every option has a description', async () => {
  const whole = new Command('bursar');
  await addCommands(whole, () => true);
  const undescribed = (command: Command, path: string): string[] => [
    ...(command.description() === '' ? [path] : []),
    ...command.options
      .filter(({ description }) => description === '')
      .map(({ flags }) => `${path} ${flags}`),
    ...command.commands.flatMap((each) => undescribed(each, `${path} ${each.name()}`)),
  ];
  expect(whole.commands.flatMap((each) => undescribed(each, each.name()))).toEqual([]);
});

test('a command in use has its options in its own help, and `help` shows the same', async () => {
  const { out } = await bursar('transfers', 'create', '--help');
  expect(out).toContain('--amount-minor <n>');
  expect((await bursar('help', 'transfers')).out).toBe((await bursar('transfers', '--help')).out);
});

test('--version prints the release of package.json', async () => {
  expect(await bursar('--version')).toEqual({ code: 0, out: manifest.version, error: '' });
});

test('a mistyped command is refused with the nearest name', async () => {
  const { code, error } = await bursar('transfer', 'list');
  expect(code).toBe(1);
  expect(error).toContain("unknown command 'transfer'\n(Did you mean transfers?)");
});

test('the built program can be linked into the PATH: it is executable and names its interpreter', () => {
  expect(statSync(program).mode & 0o111).toBe(0o111);
  expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { out: script } = await bursar('completion', 'bash');
    const given = words.map((word) => `'${word}'`).join(' ');
    const completion = `COMP_WORDS=(bursar ${given}); COMP_CWORD=${words.length}; _bursar; echo "\${COMPREPLY[@]}"`;
    return (await run('bash', ['-c', `${script}\n${completion}`], {})).out.split(' ');
  };

  test.each([
    ['a command', ['trans'], ['transfers']],
    ['a command below another', ['transfers', 'cr'], ['create']],
    ['an option, behind an argument', ['transfers', 'fail', 'trf_1', '--f'], ['--force']],
    ['two levels below', ['webhooks', 'endpoints', 'ro'], ['rotate']],
  ])('completion offers %s', async (_name, words, found) => {
    expect(await complete(...words)).toEqual(found);
  });

  test('zsh is asked to run the completion of bash; another shell is refused', async () => {
    expect((await bursar('completion', 'zsh')).out).toMatch(/^autoload -U \+X bashcompinit/);
    expect(await bursar('completion', 'tcsh')).toMatchObject({ code: 1 });
  });
});
