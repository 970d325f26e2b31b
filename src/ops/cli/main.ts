#!/usr/bin/env node
import { Command } from 'commander';
import { readVersion } from '../../shared/version.js';
import { addCommands } from './commands.js';

const program = new Command('bursar')
  .description(
    "The operator's command line. The environment variables name the service; without them, dev.json does.",
  )
  .version(readVersion(), '-V, --version', 'print the release')
  .showHelpAfterError();
const [first, second] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const used = first === 'help' ? second : first;

try {
  await addCommands(program, (name) => name === used);
  await program.parseAsync();
} catch (error) {
  // Loaded on failure only, because it imports the clients of MongoDB and Temporal.
  const { explain } = await import('./explain.js');
  console.error(`bursar: ${explain(error)}`);
  process.exitCode = 1;
}
