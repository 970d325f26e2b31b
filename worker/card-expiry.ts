import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 100;
const MINUTE_MS = 60_000;

/** Expires cards after their last month, and has doubtful states read again. Several workers may run it at the same time. */
export function createCardExpiryLoop({
  cardStates,
  log,
}: {
  cardStates: {
    expireCards(limit: number): Promise<{ found: number; expired: number }>;
    recheckStates(limit: number): Promise<number>;
  };
  log: Log;
}): Loop {
  return createLoop(async () => {
    try {
      const { found, expired } = await cardStates.expireCards(BATCH);
      if (expired > 0) log.info({ cards: expired }, 'cards expired');
      const rechecked = await cardStates.recheckStates(BATCH);
      return (found === BATCH && expired > 0) || rechecked === BATCH;
    } catch (error) {
      log.warn({ err: error }, 'card expiry failed, retrying');
      return false;
    }
  }, MINUTE_MS);
}
