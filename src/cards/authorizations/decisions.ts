import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../log.js';
import type { AuthorizationDecision, AuthorizationRequest } from '../../providers/card-issuer.js';
import type { Card } from '../card.js';
import { authorizationId, isApproved, type CardAuthorization } from './authorization.js';
import type { AuthorizationKey } from './item.js';
import type { Decline } from './rules.js';
import type { AuthorizationStarter } from './starter.js';
import type { AuthorizationStore } from './store.js';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** Then the hold, if there is one, is left to the issuer's next word, and to its own end. */
const TAKE_BACK_WITHIN_MS = 5 * 60_000;
/** Declined askings whose end is not known yet. What is beyond is left in the same way. */
const MAX_OPEN = 1_000;

export type Decisions = ReturnType<typeof createDecisions>;

/** One token as it is being decided here. Whoever asks meanwhile gets the answer that was given first. */
type Flight = { answer: AuthorizationDecision | null; decided: Promise<AuthorizationDecision> };

/**
 * Decides while somebody waits with a card in hand. An approval is answered only after its commit, and in time; all
 * else is a decline. The commit may still land after we have declined: then it is taken back, unless the issuer has
 * asked again meanwhile and another asking answers for it.
 */
export function createDecisions(deps: {
  store: Pick<AuthorizationStore, 'decide' | 'commitFact'>;
  cards: {
    findIssued(provider: string, card: string): Promise<Pick<Card, '_id' | 'tenant'> | null>;
  };
  starter: Pick<AuthorizationStarter, 'startSoon'>;
  deadlineMs: number;
  holdMs: number;
  log: Log;
}) {
  const { store, cards, starter, deadlineMs, holdMs, log } = deps;
  const flights = new Map<string, Flight>();
  const endings = new Set<Promise<void>>();
  const stopping = new AbortController();

  function begin(provider: string, request: AuthorizationRequest): Flight {
    const id = authorizationId(provider, request.token);
    const asking = randomUUID();
    const committed = commit(provider, request, { id, asking });
    const flight: Flight = {
      answer: null,
      decided: committed.then(({ decision }) => (flight.answer ??= decision)),
    };
    flights.set(id, flight);
    const ending = Promise.all([committed, flight.decided])
      .then(([{ key, authorization }, answer]) => {
        if (answer.approved) {
          if (authorization?.held_minor) starter.startSoon(authorization);
          return undefined;
        }
        // Declined in time, by a commit: nothing is held, and it is remembered.
        if (!key || (authorization && !isApproved(authorization))) return undefined;
        return takeBack(key, request, { asking, code: answer.code });
      })
      .finally(() => {
        flights.delete(id);
        endings.delete(ending);
      });
    endings.add(ending);
    return flight;
  }

  /** Never rejects. With a key, but without an authorization: nobody knows what was committed. */
  async function commit(
    provider: string,
    request: AuthorizationRequest,
    { id, asking }: { id: string; asking: string },
  ) {
    const answerBy = new Date(Date.now() + deadlineMs);
    let key: AuthorizationKey | null = null;
    try {
      const card = await cards.findIssued(provider, request.card);
      if (!card) return { key, authorization: null, decision: declined('card_unknown') };
      key = { tenant: card.tenant, id, card: card._id, provider, token: request.token };
      const asked = { request, asking, answerBy, holdMs };
      const authorization = await store.decide({ kind: 'decideAuthorization', ...key, ...asked });
      if (!authorization) return { key: null, authorization, decision: declined('card_unknown') };
      return { key, authorization, decision: decisionOf(authorization) };
    } catch (error) {
      log.warn(
        { err: error, authorization: id },
        'authorization declined, as it can not be decided',
      );
      return { key, authorization: null, decision: declined('service_unavailable') };
    }
  }

  /** We have declined, and may have committed something else: what is held for it is freed. */
  async function takeBack(
    key: AuthorizationKey,
    request: AuthorizationRequest,
    { asking, code }: { asking: string; code: string },
  ): Promise<void> {
    if (endings.size > MAX_OPEN) {
      return log.error({ authorization: key.id }, 'too many are open: left to the issuer');
    }
    const giveUpAt = Date.now() + TAKE_BACK_WITHIN_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const kind = 'declined';
      const fact = { key: `taken-back-${asking}`, kind, amount_minor: 0n, at: new Date() } as const;
      const by = { withdraws: asking, request };
      try {
        await store.commitFact({ kind: 'authorizationFact', ...key, fact, code, by });
        return;
      } catch (error) {
        if (stopping.signal.aborted || Date.now() > giveUpAt) {
          return log.error({ err: error, authorization: key.id }, 'a decline may hold money');
        }
      }
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    /** The answer to an issuer, always in time. The same token gets the same one. */
    async decide(provider: string, request: AuthorizationRequest): Promise<AuthorizationDecision> {
      const id = authorizationId(provider, request.token);
      const flight = flights.get(id) ?? begin(provider, request);
      if (flight.answer) return flight.answer;
      const timer = new AbortController();
      const late = sleep(deadlineMs, null, { signal: timer.signal }).catch(() => null);
      const decision = await Promise.race([flight.decided, late]);
      timer.abort();
      return (flight.answer ??= decision ?? declined('deadline_exceeded'));
    },

    /** Lets what is under way end, and tries nothing again. */
    async idle(): Promise<void> {
      stopping.abort();
      await Promise.all(endings);
    },
  };
}

const declined = (code: Decline): AuthorizationDecision => ({ approved: false, code });

const decisionOf = (authorization: CardAuthorization): AuthorizationDecision => {
  const approved = isApproved(authorization);
  // Approved and then declined by the issuer, or taken back: the code was that of the approval.
  const code = approved || !authorization.approved ? authorization.code : 'declined';
  return { approved, code };
};
