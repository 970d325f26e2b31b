import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 100;
const MINUTE_MS = 60_000;

/** Ends cards whose month is over. Several workers may do it at once. */
export function createCardExpiryLoop({
  expireCards,
  log,
}: {
  expireCards: (limit: number) => Promise<{ found: number; expired: number }>;
  log: Log;
}): Loop {
  return createLoop(async () => {
    try {
      const { found, expired } = await expireCards(BATCH);
      if (expired > 0) log.info({ cards: expired }, 'cards have expired');
      return found === BATCH && expired > 0;
    } catch (error) {
      log.warn({ err: error }, 'cards not expired, trying again');
      return false;
    }
  }, MINUTE_MS);
}
