import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import type { AuthorizationKey } from './mutations.js';
import type { AuthorizationStore } from './store.js';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** After this time no further attempt is made. A remaining hold ends with the issuer's next event or at its expiry. */
const GIVE_UP_MS = 5 * 60_000;
/** Voids beyond this number are not attempted. */
const MAX_OPEN = 1_000;

/**
 * Voids approvals whose answer to the issuer was a decline: the commit was late, or its result is unknown. Commits a decline
 * for the request, which releases the hold, and retries until the commit succeeds or the time is over.
 */
export function createApprovalVoider({
  store,
  log,
}: {
  store: Pick<AuthorizationStore, 'commitFact'>;
  log: Log;
}) {
  let open = 0;
  const stopping = new AbortController();

  async function voidApproval(
    key: AuthorizationKey,
    request: AuthorizationRequest,
    { authorizationRequestId, code }: { authorizationRequestId: string; code: string },
  ): Promise<void> {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const about = {
        key: `voided-${authorizationRequestId}`,
        kind: 'declined',
        amount_minor: 0n,
      } as const;
      const fact = { ...about, at: new Date() };
      const by = { withdrawsRequestId: authorizationRequestId, request };
      try {
        await store.commitFact({ ...key, fact, code, by });
        return;
      } catch (error) {
        if (stopping.signal.aborted || Date.now() > giveUpAt) {
          return log.error(
            { err: error, authorization: key.id },
            'approval not voided: funds may stay held',
          );
        }
      }
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    /** Resolves after the commit, or when no further attempt is made. Never rejects. */
    async start(...given: Parameters<typeof voidApproval>): Promise<void> {
      if (open >= MAX_OPEN) {
        return log.error(
          { authorization: given[0].id },
          'approval not voided: funds may stay held',
        );
      }
      open += 1;
      await voidApproval(...given);
      open -= 1;
    },

    /** Ends the retries: each void has one more attempt. */
    stop: () => stopping.abort(),
  };
}
