import { Option, type Command } from 'commander';
import type { MongoClient } from 'mongodb';
import type { DatabaseAccount } from '../../platform/database/roles.js';
import { addPlainCommand, CommandError } from './command.js';
import { print } from './print.js';

const HELP = `
Each user with a password gets it and its role: BURSAR_DATABASE_PASSWORD_MIGRATE, _SERVICE, _OPERATOR, _READ_ONLY
(or …_FILE). The roles are brought up to date in any case. The users are named <database>_migrate and so on.
Each role may have a second user, named <database>_migrate_2 and so on, by BURSAR_DATABASE_PASSWORD_MIGRATE_2 and so on.`;

/** Adds the command that makes the users of the database. It needs an administrator of MongoDB in MONGODB_URI. */
export function addDatabaseUsersCommand(program: Command): void {
  addPlainCommand<{ remove?: DatabaseAccount; everyMongos?: true }>(
    program,
    'database-users',
    (command) =>
      command
        .addOption(
          new Option(
            '--remove <user>',
            'remove this user, such as service or service_2, if no process is signed in as it',
          ),
        )
        .option(
          '--every-mongos',
          'with --remove behind a mongos: the check at each other mongos found no process either',
        )
        .addHelpText('after', HELP),
    async ({ json, options: { remove, everyMongos = false } }) => {
      const [{ createMongoClient }, roles, { withSecretFiles }] = await Promise.all([
        import('../../platform/database/client.js'),
        import('../../platform/database/roles.js'),
        import('../../shared/secret-files.js'),
      ]);
      const env = withSecretFiles(process.env);
      const uri = env['MONGODB_URI'];
      if (!uri)
        throw new CommandError('MONGODB_URI is missing: it names an administrator of MongoDB');
      if (remove !== undefined && !roles.DATABASE_ACCOUNTS.includes(remove)) {
        const users = roles.DATABASE_ACCOUNTS.join(', ');
        throw new CommandError(`--remove takes one of: ${users}`);
      }
      const database = env['BURSAR_DATABASE'] || `bursar_${env['BURSAR_ENV'] || 'sandbox'}`;
      const client = createMongoClient(uri, 'bursar-database-users');
      try {
        const done =
          remove === undefined
            ? { users: await makeUsers(client, database, env) }
            : {
                removed: await removeUser(client, {
                  name: roles.databaseUserName(database, remove),
                  everyMongos,
                }),
              };
        print(json, { database, ...done });
      } finally {
        await client.close();
      }
    },
  );
}

/** Returns the names of the users that have a password in the environment. */
async function makeUsers(
  client: MongoClient,
  database: string,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const [{ databaseRights }, roles] = await Promise.all([
    import('../../composition/database-rights.js'),
    import('../../platform/database/roles.js'),
  ]);
  const passwords = Object.fromEntries(
    roles.DATABASE_ACCOUNTS.flatMap((account) => {
      const password = env[`BURSAR_DATABASE_PASSWORD_${account.toUpperCase()}`];
      return password ? [[account, password]] : [];
    }),
  );
  const made = await roles.ensureDatabaseUsers(client, {
    database,
    rights: databaseRights,
    passwords,
  });
  return made.map((account) => roles.databaseUserName(database, account));
}

/**
 * Removes a user that no process uses. Returns its name. A mongos knows its own connections alone, so behind one an operator
 * has to say that all were checked.
 */
export async function removeUser(
  client: MongoClient,
  { name, everyMongos }: { name: string; everyMongos: boolean },
): Promise<string> {
  const roles = await import('../../platform/database/roles.js');
  const { isMongos, found } = await roles.connectionsOf(client, name);
  if (found.length > 0) {
    const by = found.map(({ app, connections }) => `${app}: ${connections}`).join(', ');
    throw new CommandError(
      `${name} is signed in (connections of ${by}): restart these processes with the other user first`,
    );
  }
  if (isMongos && !everyMongos) {
    throw new CommandError(
      `${name} has no connection to this mongos, which does not know those of others: it is not removed. Run this at each mongos, and then with --every-mongos`,
    );
  }
  if (!(await roles.removeDatabaseUser(client, name))) {
    throw new CommandError(`there is no user ${name}`);
  }
  return name;
}
