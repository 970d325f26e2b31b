import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { definedOnly, loadConfig, type Config } from './config.js';
import { withSecretFiles } from './secret-files.js';

/**
 * Finds the configuration of the service that a tool of the operator works on. The environment variables come first. If
 * MONGODB_URI is not set, missing ones come from `dev.json` of the service that `npm start` runs in BURSAR_HOME
 * (default: `.bursar` here). Throws if no service is found.
 */
export function findService(given: NodeJS.ProcessEnv = process.env): Config {
  const env = withSecretFiles(given);
  const home = homeOf(env);
  // Settings of two services are never mixed.
  const isNamed = env.MONGODB_URI !== undefined && env.MONGODB_URI !== '';
  const dev = isNamed ? null : readJson(join(home, 'dev.json'));
  const secrets = isNamed ? null : readJson(join(home, 'secrets.json'));
  if (!dev && !isNamed) {
    throw new Error(
      `No running Bursar found: MONGODB_URI is not set, and ${home} has no dev.json. Start one with npm start.`,
    );
  }
  const found = {
    MONGODB_URI: dev?.mongodb_uri,
    TEMPORAL_ADDRESS: dev?.temporal_address,
    TEMPORAL_NAMESPACE: dev?.temporal_namespace,
    SANDBOX_BANK_URL: dev?.sandbox_bank_url,
    SANDBOX_BANK_SECRET: secrets?.bank_secret,
    BURSAR_KEY_PEPPER: secrets?.key_pepper,
    BURSAR_SEALING_KEYS: secrets?.sealing_keys,
    // The setting of `npm start`; a deployment named by the environment does not get it.
    ...(!env.MONGODB_URI && { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' }),
  };
  return loadConfig({ BURSAR_LOG_LEVEL: 'error', ...definedOnly(found), ...definedOnly(env) });
}

const homeOf = (env: NodeJS.ProcessEnv) => resolve(env.BURSAR_HOME || '.bursar');

/** Reads the `dev.json` of a service that `npm start` runs; null if none was ever started here. */
export const readDevJson = (env: NodeJS.ProcessEnv) =>
  readJson(join(homeOf(env), 'dev.json')) as {
    api_url?: string;
    operator_url?: string;
    keys?: { secret?: string };
    operators?: { operator?: string; approver?: string };
  } | null;

function readJson(file: string): Record<string, string> | null {
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
    : null;
}
