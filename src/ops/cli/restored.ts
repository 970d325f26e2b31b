import type { Command } from 'commander';
import { addCommand } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print } from './print.js';

/** Adds the command that prepares a database that was restored from a backup. It needs the database, before API and worker start. */
export function addRestoredCommand(program: Command): void {
  addCommand<{ yes?: boolean }>(program, 'restored', addYes, async (deps, { json, options }) => {
    const question = 'Are API and worker stopped, and was the database restored?';
    await confirm(question, { json, yes: options.yes });
    const { capabilities } = await import('../../composition/capabilities.js');
    const presumed: Record<string, number> = {};
    for (const { name, instruction } of capabilities) {
      if (instruction) presumed[name] = await instruction.records(deps).store.presumeSubmitted();
    }
    print(json, { presumed_submitted: presumed });
  });
}
