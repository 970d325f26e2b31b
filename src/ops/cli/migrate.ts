import type { Command } from 'commander';
import { addPlainCommand } from './command.js';
import { print } from './print.js';
import { whileWaiting } from './progress.js';

/** Adds the command that migrates the database. API and worker do the same at their start. */
export function addMigrateCommand(program: Command): void {
  addPlainCommand(
    program,
    'migrate',
    (command) => command,
    async ({ json }) => {
      const [{ migrateFirst }, { findService }] = await Promise.all([
        import('../../composition/deps.js'),
        import('../../shared/find-service.js'),
      ]);
      await whileWaiting(() => migrateFirst(findService()));
      print(json, { migrated: true });
    },
  );
}
