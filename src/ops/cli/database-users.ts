import type { Command } from 'commander';
import { addPlainCommand, CommandError } from './command.js';
import { print } from './print.js';

/** Adds the command that makes the users of the database. It needs an administrator of MongoDB in MONGODB_URI. */
export function addDatabaseUsersCommand(program: Command): void {
  addPlainCommand(
    program,
    'database-users',
    (command) =>
      command.addHelpText(
        'after',
        '\nEach user with a password gets it and its role: BURSAR_DATABASE_PASSWORD_MIGRATE, _SERVICE, _OPERATOR, _READ_ONLY\n' +
          '(or …_FILE). The roles are brought up to date in any case. The users are named <database>_migrate and so on.',
      ),
    async ({ json }) => {
      const [{ createMongoClient }, { databaseRights }, roles, { withSecretFiles }] =
        await Promise.all([
          import('../../platform/database/client.js'),
          import('../../composition/database-rights.js'),
          import('../../platform/database/roles.js'),
          import('../../shared/secret-files.js'),
        ]);
      const env = withSecretFiles(process.env);
      const uri = env['MONGODB_URI'];
      if (!uri)
        throw new CommandError('MONGODB_URI is missing: it names an administrator of MongoDB');
      const database = env['BURSAR_DATABASE'] || `bursar_${env['BURSAR_ENV'] || 'sandbox'}`;
      const passwords = Object.fromEntries(
        roles.DATABASE_USERS.flatMap((user) => {
          const password = env[`BURSAR_DATABASE_PASSWORD_${user.toUpperCase()}`];
          return password ? [[user, password]] : [];
        }),
      );
      const client = createMongoClient(uri, 'bursar-database-users');
      try {
        const users = await roles.ensureDatabaseUsers(client, {
          database,
          rights: databaseRights,
          passwords,
        });
        const named = users.map((user) => roles.databaseUserName(database, user));
        print(json, { database, users: named });
      } finally {
        await client.close();
      }
    },
  );
}
