import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { addCommands } from '../../../src/ops/cli/commands.js';
import { packageRoot } from '../../../src/shared/package-root.js';

const OTHER_PAGES = /^(CHANGELOG\.md|docs\/(decisions|performance)\/)/;
const PAGES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: packageRoot,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((page) => !OTHER_PAGES.test(page));
const read = (page: string) => readFileSync(join(packageRoot, page), 'utf8');

const program = new Command('bursar');
beforeAll(() => addCommands(program, () => true));

/** The commands of a page, each without what follows in the shell. `retry|verify` are two, and `-n bursar` is a namespace. */
const commandsOf = (page: string): string[] =>
  [...read(page).matchAll(/(?<!-n )\b(?:bursar|cli\/main\.js) (?:-- )?([a-z][^`\n#]*)/g)]
    .map(([, given = '']) => given.split(/ (?:&&|[|>]|--$) ?/)[0] ?? '')
    .flatMap((command) => {
      const either = command.split(' ').find((word) => /^[a-z-]+(\|[a-z-]+)+$/.test(word));
      if (either === undefined) return [command];
      return either.split('|').map((word) => command.replace(either, word));
    });

/** The command that a line names, and its words after that. */
function find(line: string): { command: Command; rest: string[] } {
  const rest = line.trim().split(/\s+/);
  let command = program;
  for (;;) {
    const name = rest[0]?.replace(/[.,;:)"]+$/, '');
    const next = command.commands.find((each) => each.name() === name);
    if (!next) return { command, rest };
    command = next;
    rest.shift();
  }
}

test('every command and option that a page names exists in the command line', () => {
  let checked = 0;
  for (const page of PAGES) {
    for (const line of commandsOf(page)) {
      const { command, rest } = find(line);
      // A group alone is a name of its commands, such as `bursar deposits`.
      const isComplete =
        command.commands.length === 0 || (command !== program && rest.length === 0);
      expect({ page, line, isComplete }).toEqual({ page, line, isComplete: true });
      const options = rest.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? []);
      const has = new Set(command.options.map(({ long }) => long));
      const unknown = options.filter((option) => !has.has(option));
      expect({ page, line, unknown }).toEqual({ page, line, unknown: [] });
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(200);
});

/** The names of all commands below one that have this option, with those above them. */
const withOption = (above: Command, option: string, path: string[] = []): string[] =>
  above.commands.flatMap((command) => {
    const name = [...path, command.name()];
    return [
      ...(command.options.some(({ long }) => long === option) ? [name.join(' ')] : []),
      ...withOption(command, option, name),
    ];
  });

test('the operator’s guide lists every command that asks for a confirmation', () => {
  const [, list = ''] =
    /\n- (`approvals approve`[^]*?) ask for a\s+confirmation/.exec(read('docs/operating.md')) ?? [];
  const listed = [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/ --.*/, ''));
  const confirmed = withOption(program, '--yes').map((name) =>
    // Every kind of record has these.
    name.replace(/^\S+ (?=(complete|fail|retry)$)/, ''),
  );
  expect([...new Set(confirmed)].toSorted()).toEqual(listed.toSorted());
});
