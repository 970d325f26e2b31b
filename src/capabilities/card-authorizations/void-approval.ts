import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import type { AuthorizationKey } from './mutations.js';
import type { AuthorizationStore } from './store.js';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** Then the hold, if there is one, is left to the issuer's next word, and to its own end. */
const WITHIN_MS = 5 * 60_000;
/** What is beyond is left in the same way. */
const MAX_OPEN = 1_000;

/**
 * We have declined, and may have committed something else: it is made a decline as well, and what is held for it is
 * free. Tried until our store has it.
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
    const giveUpAt = Date.now() + WITHIN_MS;
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
    /** Resolves when it is done, or given up. Never rejects. */
    async begin(...given: Parameters<typeof voidApproval>): Promise<void> {
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

    /** From now on each has one more try. */
    stop: () => stopping.abort(),
  };
}
