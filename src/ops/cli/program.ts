import { Command, CommanderError } from 'commander';
import { readVersion } from '../../shared/version.js';
import { addCommands } from './commands.js';

/** Creates the program without its commands, which `runProgram` adds. */
export const newProgram = () =>
  new Command('bursar')
    .description(
      "The operator's command line. The environment variables name the service; without them, dev.json does.",
    )
    .version(readVersion(), '-V, --version', 'print the release')
    // Here too, so that it is accepted in front of the command.
    .option('--json', 'print JSON')
    .showHelpAfterError();

/**
 * Runs one command. A failure is printed as one line and sets the exit code of the process. Throws a `CommanderError` only
 * if the program has an `exitOverride`.
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<void> {
  const [first, second] = args.filter((argument) => !argument.startsWith('-'));
  const used = first === 'help' ? second : first;
  try {
    await addCommands(program, (name) => name === used);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw error;
    // Loaded on failure only, because it imports the clients of MongoDB and Temporal.
    const { explain } = await import('./explain.js');
    console.error(`bursar: ${explain(error)}`);
    process.exitCode = 1;
  }
}
