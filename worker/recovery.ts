import type { ObserveClaims } from '../src/platform/database/claims.js';
import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

/** Handles up to `limit` unprocessed records and returns their number, and whether more may be due. */
type Recover = (limit: number, observe: ObserveClaims) => Promise<{ found: number; more: boolean }>;

/**
 * Delivers webhooks that were written and never attempted, and starts the workflows of endpoints that have lost theirs. It is a loop of its own, so that
 * transfers do not wait for webhooks, nor webhooks for Temporal.
 */
export const createWebhookRecovery = (
  deps: { webhooks: { recover: Recover }; log: Log },
  observe: ObserveClaims = () => undefined,
): Loop =>
  recoveryLoop(deps.log, { name: 'webhooks', batch: 500 }, (limit) =>
    deps.webhooks.recover(limit, observe),
  );

const recoveryLoop = (
  log: Log,
  { name, batch }: { name: string; batch: number },
  recover: (limit: number) => ReturnType<Recover>,
): Loop =>
  createLoop(async () => {
    try {
      const { found, more } = await recover(batch);
      if (found > 0) log.info({ [name]: found }, 'recovered unprocessed records');
      return more;
    } catch (error) {
      log.warn({ err: error, recovery: name }, 'recovery failed, retrying');
      return false;
    }
  });
