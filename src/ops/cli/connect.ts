import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig, type Config } from '../../shared/config.js';

/**
 * The environment of the service that a command is about: what is set in the environment first, and what is missing
 * there from the `dev.json` of the copy that `npm start` runs in BURSAR_HOME (default: `.bursar` here).
 */
export function findService(env: NodeJS.ProcessEnv = process.env): Config {
  const home = homeOf(env);
  // One service or the other: half of each would be a third that does not exist.
  const named = env.MONGODB_URI !== undefined && env.MONGODB_URI !== '';
  const dev = named ? null : readJson(join(home, 'dev.json'));
  const secrets = named ? null : readJson(join(home, 'secrets.json'));
  if (!dev && !named) {
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
    // As `npm start` has it; a deployment that the environment names is none of dev.json's.
    ...(!env.MONGODB_URI && { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' }),
  };
  return loadConfig({ BURSAR_LOG_LEVEL: 'error', ...definedOnly(found), ...definedOnly(env) });
}

const homeOf = (env: NodeJS.ProcessEnv) => resolve(env.BURSAR_HOME ?? '.bursar');

/** What a running copy says of itself; null if none was ever started here. */
export const readDevJson = (env: NodeJS.ProcessEnv) =>
  readJson(join(homeOf(env), 'dev.json')) as {
    api_url?: string;
    keys?: { secret?: string };
  } | null;

function readJson(file: string): Record<string, string> | null {
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
    : null;
}

const definedOnly = (values: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  );
