import { BursarError, createClient, type Client } from '../../../client/src/index.js';
import { CommandError } from './command.js';
import { readDevJson } from './connect.js';

export type ApiOptions = { api?: string; key?: string };

/**
 * A client of the public API, as a tenant has it. Address and key from the options, then from the environment, then
 * from dev.json; a key of dev.json goes nowhere but to the copy that it belongs to.
 */
export function findApi({ api, key }: ApiOptions, env: NodeJS.ProcessEnv = process.env): Client {
  const named = api || env.BURSAR_API_URL;
  const dev = readDevJson(env);
  const baseUrl = named || dev?.api_url;
  if (!baseUrl) throw new CommandError('no API: give --api or BURSAR_API_URL, or run npm start');
  const found = key || env.BURSAR_API_KEY || (named ? undefined : dev?.keys?.secret);
  if (!found) throw new CommandError('no key: give --key or BURSAR_API_KEY');
  return createClient({ baseUrl, key: found });
}

/** What the API refused, in one line. Where the outcome is unknown it names the key that finds out. */
export function explain(error: unknown): unknown {
  if (!(error instanceof BursarError)) return error;
  const { code, message, field, outcomeUnknown, idempotencyKey } = error;
  const where = field === undefined ? '' : ` (${field})`;
  const again = outcomeUnknown && idempotencyKey ? ` --idempotency-key ${idempotencyKey}` : '';
  return new CommandError(`${code}: ${message}${where}${again}`);
}
