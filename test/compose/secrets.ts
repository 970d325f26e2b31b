import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSecrets } from '../../devstack/secured/compose.js';
import { loadConfig, type Config } from '../../src/shared/config.js';
import { environmentOf, type Service } from './file.js';

/** The passwords that docker-compose.yml asks for, each recognizable. */
export const PASSWORDS = {
  POSTGRES_PASSWORD: 'w'.repeat(64),
  TEMPORAL_UI_PASSWORD: 't'.repeat(64),
  MONGODB_ADMIN_PASSWORD: 'a'.repeat(64),
  BURSAR_DATABASE_PASSWORD_MIGRATE: 'm'.repeat(64),
  BURSAR_DATABASE_PASSWORD_SERVICE: 'v'.repeat(64),
  BURSAR_DATABASE_PASSWORD_OPERATOR: 'o'.repeat(64),
  BURSAR_DATABASE_PASSWORD_READ_ONLY: 'r'.repeat(64),
};
/** Values for every variable of docker-compose.yml. */
export const SECRETS = {
  ...PASSWORDS,
  BURSAR_KEY_PEPPER: 'p'.repeat(64),
  BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
  SANDBOX_BANK_SECRET: 's'.repeat(64),
};

/** A new folder with the secrets that the script of docker-compose.yml makes. */
export function newSecrets(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-compose-secrets-'));
  makeSecrets(folder);
  return folder;
}

/** The configuration of a process of ours, as its container has it, with the secrets of this folder. */
export const configIn = (folder: string, service: Service): Config =>
  loadConfig(
    Object.fromEntries(
      Object.entries(environmentOf(service, SECRETS)).map(([variable, value]) => [
        variable,
        value.replaceAll('/run/secrets/', `${join(folder, '.compose')}/`),
      ]),
    ),
  );
