import { z } from 'zod';

const text = z.string().min(1).optional();

const passwordsOf = <Role extends string>(role: Role, user: string) => ({
  [`BURSAR_DATABASE_PASSWORD_${role}`]: text.describe(
    `\`bursar database-users\`: password of \`<database>_${user}\`, which is left alone without it`,
  ),
  [`BURSAR_DATABASE_PASSWORD_${role}_2`]: text.describe(
    `the same of the second user of this role, \`<database>_${user}_2\`, for the exchange of a password`,
  ),
});

/**
 * The environment variables that only the command line reads, for docs/settings.md. Each command reads its own, so no other one
 * needs them.
 */
export const commandLineFields = {
  BURSAR_HOME: text.describe(
    'folder of the service of `npm start` in a clone, whose addresses and keys are used for what is not set; without it `.bursar` here',
  ),
  BURSAR_OPERATOR_URL: text.describe(
    'address of the operator API; without it that of `npm start`. Every command needs it but the five that need the database',
  ),
  BURSAR_OPERATOR_KEY: text.describe('key of an operator, where there is no issuer'),
  BURSAR_OPERATOR_TOKEN: text.describe(
    'ID token of the issuer, for a script that has one; precedes the key and the file of `bursar sign-in`',
  ),
  BURSAR_SIGN_IN_FILE: text.describe(
    'file of `bursar sign-in`; without it `.bursar/sign-in.json` in the home directory',
  ),
  BURSAR_API_URL: text.describe(
    'address of the API, for commands that do what a tenant does, such as `bursar transfers create`',
  ),
  BURSAR_API_KEY: text.describe('key of a tenant, for the same commands'),
  ...passwordsOf('MIGRATE', 'migrate'),
  ...passwordsOf('SERVICE', 'service'),
  ...passwordsOf('OPERATOR', 'operator'),
  ...passwordsOf('READ_ONLY', 'read_only'),
};
