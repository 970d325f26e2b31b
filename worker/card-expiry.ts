import type { Db } from 'mongodb';
import { createLeasedWork } from '../src/platform/database/lease.js';
import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 100;
const MINUTE_MS = 60_000;

/** Expires cards after their last month, and has doubtful states read again. Several workers may run it: a lease lets one of them do it. */
export function createCardExpiryLoop({
  cardStates,
  database: { db },
  log,
}: {
  cardStates: {
    expireCards(limit: number): Promise<{ found: number; expired: number }>;
    recheckStates(limit: number): Promise<number>;
  };
  database: { db: Db };
  log: Log;
}): Loop {
  const leased = createLeasedWork(db, { name: 'card expiry', everyMs: MINUTE_MS });
  async function expire(): Promise<boolean> {
    const { found, expired } = await cardStates.expireCards(BATCH);
    if (expired > 0) log.info({ cards: expired }, 'cards expired');
    const rechecked = await cardStates.recheckStates(BATCH);
    return (found === BATCH && expired > 0) || rechecked === BATCH;
  }
  return createLoop(
    () =>
      leased(expire).catch((error: unknown) => {
        log.warn({ err: error }, 'card expiry failed, retrying');
        return false;
      }),
    MINUTE_MS,
  );
}
