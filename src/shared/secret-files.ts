import { readFileSync } from 'node:fs';
import { StartRefused } from './start-refused.js';

/** The environment variables with a secret. */
export const SECRETS = [
  'MONGODB_URI',
  'BURSAR_KEY_PEPPER',
  'BURSAR_SEALING_KEYS',
  'BURSAR_OPERATOR_KEY',
  'BURSAR_DATABASE_PASSWORD_MIGRATE',
  'BURSAR_DATABASE_PASSWORD_MIGRATE_2',
  'BURSAR_DATABASE_PASSWORD_SERVICE',
  'BURSAR_DATABASE_PASSWORD_SERVICE_2',
  'BURSAR_DATABASE_PASSWORD_OPERATOR',
  'BURSAR_DATABASE_PASSWORD_OPERATOR_2',
  'BURSAR_DATABASE_PASSWORD_READ_ONLY',
  'BURSAR_DATABASE_PASSWORD_READ_ONLY_2',
  'SANDBOX_BANK_SECRET',
  'PAYSTACK_SECRET_KEY',
  'TEMPORAL_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/**
 * The environment with each secret that is in a file: `<NAME>_FILE` is the path to the value of `<NAME>`, whose line ends
 * are cut off. Throws if both are set, and if the file cannot be read or is empty. The error never has the content.
 */
export function withSecretFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = { ...env };
  for (const name of SECRETS) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    read[name] = readSecret(name, path, env);
    delete read[`${name}_FILE`];
  }
  return read;
}

function readSecret(name: string, path: string, env: NodeJS.ProcessEnv): string {
  if (env[name])
    throw new StartRefused(`${name} and ${name}_FILE are both set: remove one of them`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new StartRefused(`${name}_FILE: ${path} cannot be read (${code})`, { cause: error });
  }
  const value = text.replace(/[\r\n]+$/, '');
  if (value === '') throw new StartRefused(`${name}_FILE: ${path} is empty`);
  return value;
}
