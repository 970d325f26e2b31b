import { BursarError, createClient, type Client } from '../../../client/src/index.js';
import { CommandError } from './command.js';
import { readDevJson } from '../../shared/find-service.js';

/** The options of commands that call the public API. */
export type ApiOptions = { api?: string };

/**
 * Creates a client of the public API, as a tenant would. The address comes from the option, then from the environment,
 * then from dev.json. The key comes from the environment, because the process list shows options, then from dev.json: that
 * one is sent only to the service of that file.
 */
export function findApi({ api }: ApiOptions, env: NodeJS.ProcessEnv = process.env): Client {
  const named = api || env.BURSAR_API_URL;
  const dev = readDevJson(env);
  const baseUrl = named || dev?.api_url;
  if (!baseUrl)
    throw new CommandError(
      'the address of the API is missing: pass --api, set BURSAR_API_URL, or run npm start',
    );
  const found = env.BURSAR_API_KEY || (named ? undefined : dev?.keys?.secret);
  if (!found) throw new CommandError('there is no key: set BURSAR_API_KEY');
  return createClient({ baseUrl, key: found });
}

/** Converts an API error to one line. If the outcome is unknown, the line names the idempotency key that finds it. */
export function explain(error: unknown): unknown {
  if (!(error instanceof BursarError)) return error;
  const { code, message, field, outcomeUnknown, idempotencyKey } = error;
  const where = field === undefined ? '' : ` (${field})`;
  const again = outcomeUnknown && idempotencyKey ? ` --idempotency-key ${idempotencyKey}` : '';
  return new CommandError(`${code}: ${message}${where}${again}`);
}
