import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import type {
  AuthorizationDecision,
  AuthorizationRequest,
} from '../../core/providers/card-issuer.js';
import type { Cards } from '../cards/store.js';
import {
  askingsOf,
  authorizationId,
  isApproved,
  type CardAuthorization,
} from './card-authorization.js';
import type { AuthorizationKey } from './mutations.js';
import type { Decline } from './rules.js';
import type { AuthorizationStarter } from './workflow-starter.js';
import type { AuthorizationStore } from './store.js';
import { createApprovalVoider } from './void-approval.js';

export type Decisions = ReturnType<typeof createDecisions>;

export type DecisionDeps = {
  store: Pick<AuthorizationStore, 'decide' | 'commitFact'>;
  cards: Pick<Cards, 'findIssued'>;
  starter: Pick<AuthorizationStarter, 'startSoon'>;
  deadlineMs: number;
  holdMs: number;
  log: Log;
};

/** One token as it is being decided here. Whoever asks meanwhile gets the answer that was given first. */
type Flight = {
  answer: AuthorizationDecision | null;
  decided: Promise<AuthorizationDecision>;
  /** Resolves when what was committed is what was answered. */
  over: Promise<void>;
};

/** Without a key: no card of ours. With a key, but without an authorization: nobody knows what was committed. */
type Committed = {
  key: AuthorizationKey | null;
  authorization: CardAuthorization | null;
  decision: AuthorizationDecision;
};

/**
 * Decides while somebody waits with a card in hand. An approval is answered only after its commit, and in time; all
 * else is a decline. The commit may still land after we have declined: then it is taken back, unless the issuer has
 * asked another time, too, and may have heard the approval there.
 */
export function createDecisions(deps: DecisionDeps) {
  const { starter, deadlineMs } = deps;
  const flights = new Map<string, Flight>();
  const commit = createCommit(deps);
  const approvalVoider = createApprovalVoider(deps);

  function begin(id: string, provider: string, request: AuthorizationRequest): Flight {
    const authorizationRequestId = randomUUID();
    const committed = commit(provider, request, { id, authorizationRequestId });
    const decided = committed.then(({ decision }) => (flight.answer ??= decision));
    const over = Promise.all([committed, decided])
      .then(([{ key, authorization }, { approved, code }]) => {
        if (approved) {
          if (authorization?.held_minor) starter.startSoon(authorization);
          return undefined;
        }
        // Declined by a commit: nothing is held, and it is remembered.
        if (!key || (authorization && !isApproved(authorization))) return undefined;
        return approvalVoider.begin(key, request, { authorizationRequestId, code });
      })
      .finally(() => flights.delete(id));
    const flight: Flight = { answer: null, decided, over };
    flights.set(id, flight);
    return flight;
  }

  return {
    /** The answer to an issuer, always in time. The same token gets the same one. */
    async decide(provider: string, request: AuthorizationRequest): Promise<AuthorizationDecision> {
      const id = authorizationId(provider, request.token);
      const flight = flights.get(id) ?? begin(id, provider, request);
      if (flight.answer) return flight.answer;
      const timer = new AbortController();
      const late = sleep(deadlineMs, null, { signal: timer.signal }).catch(() => null);
      const decision = await Promise.race([flight.decided, late]);
      timer.abort();
      return (flight.answer ??= decision ?? declined('deadline_exceeded'));
    },

    /** Lets what is under way end; what is being taken back has one more try. */
    async idle(): Promise<void> {
      approvalVoider.stop();
      await Promise.all([...flights.values()].map(({ over }) => over));
    },
  };
}

/** Never rejects: what can't be decided is declined. */
function createCommit({ store, cards, deadlineMs, holdMs, log }: DecisionDeps) {
  return async (
    provider: string,
    request: AuthorizationRequest,
    { id, authorizationRequestId }: { id: string; authorizationRequestId: string },
  ): Promise<Committed> => {
    const answerBy = new Date(Date.now() + deadlineMs);
    const unknown = { key: null, authorization: null, decision: declined('card_unknown') };
    let key: AuthorizationKey | null = null;
    try {
      const card = await cards.findIssued(provider, request.card);
      if (!card) return unknown;
      key = { tenantId: card.tenant_id, id, card: card._id, provider, token: request.token };
      const asked = { request, authorizationRequestId, answerBy, holdMs };
      const authorization = await store.decide({ ...key, ...asked });
      failpoint('decision.made');
      return authorization
        ? { key, authorization, decision: decisionOf(authorization, authorizationRequestId) }
        : unknown;
    } catch (error) {
      log.warn({ err: error, authorization: id }, 'declined, as it could not be decided');
      return { key, authorization: null, decision: declined('service_unavailable') };
    }
  };
}

const declined = (code: Decline): AuthorizationDecision => ({ approved: false, code });

function decisionOf(
  authorization: CardAuthorization,
  authorizationRequestId: string,
): AuthorizationDecision {
  const approved = isApproved(authorization);
  if (approved && !askingsOf(authorization).includes(authorizationRequestId))
    return declined('deadline_exceeded');
  // Approved, and then declined by the issuer or taken back: the code is that of the approval.
  const code = approved || !authorization.approved ? authorization.code : 'declined';
  return { approved, code };
}
