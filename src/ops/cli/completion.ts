import { Argument, Command } from 'commander';
import { addCommands } from './commands.js';

const SHELLS = ['bash', 'zsh'] as const;

/** Adds the command that prints a shell's completion script. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action(async (shell: (typeof SHELLS)[number]) => {
      // Builds a complete tree, because the running one has loaded this command only.
      const whole = new Command(program.name());
      await addCommands(whole, (name) => name !== 'completion');
      console.log(completionScript(whole, shell));
    });
}

/**
 * The completion script of a shell, used as `eval "$(bursar completion bash)"`: it completes names of commands and
 * options.
 */
function completionScript(program: Command, shell: (typeof SHELLS)[number]): string {
  return [
    // Zsh runs completions of bash after this line.
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_bursar_words() {',
    '  case "$1" in',
    ...wordsByCommand(program, '').map(([path, words]) => `    '${path}') echo '${words}' ;;`),
    '    *) return 1 ;;',
    '  esac',
    '}',
    '_bursar() {',
    "  local path='' i",
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    if _bursar_words "$path ${COMP_WORDS[i]}" >/dev/null; then path="$path ${COMP_WORDS[i]}"; fi',
    '  done',
    '  COMPREPLY=($(compgen -W "$(_bursar_words "$path")" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -F _bursar bursar',
  ].join('\n');
}

/** The words that may follow each command, by the words that lead to the command. */
function wordsByCommand(command: Command, path: string): [string, string][] {
  const names = command.commands.map((each) => each.name());
  const options = command.options.flatMap(({ long }) => long ?? []);
  return [
    [path, [...names, ...options, '--help'].join(' ')],
    ...command.commands.flatMap((each) => wordsByCommand(each, `${path} ${each.name()}`)),
  ];
}
