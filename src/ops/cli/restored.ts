import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Act } from '../../core/audit/entry.js';
import { addCommand } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print } from './print.js';

/** The act of the person who has the database: nobody can sign in before API and worker start. */
const restoredAct = (): Act => ({
  id: randomUUID(),
  actor: { operator: null, name: 'restored database', roles: [] },
  action: 'database.restored',
  target: 'database',
  tenantId: null,
  reason: 'restored',
  requestId: null,
  approval: null,
});

/** Adds the command that prepares a database that was restored from a backup. It needs the database, before API and worker start. */
export function addRestoredCommand(program: Command): void {
  addCommand<{ yes?: boolean }>(program, 'restored', addYes, async (deps, { json, options }) => {
    const question = 'Are API and worker stopped, and was the database restored?';
    await confirm(question, { json, yes: options.yes });
    const { capabilities } = await import('../../composition/capabilities.js');
    // Before the records change, as every act that is no single transaction.
    await deps.audit.record(restoredAct());
    const presumed: Record<string, number> = {};
    for (const { name, instruction } of capabilities) {
      if (instruction) presumed[name] = await instruction.records(deps).store.presumeSubmitted();
    }
    print(json, { presumed_submitted: presumed });
  });
}
