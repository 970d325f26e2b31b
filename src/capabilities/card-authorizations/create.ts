import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import type {
  AuthorizationDecision,
  AuthorizationRequest,
} from '../../core/providers/card-issuer.js';
import type { CardParts } from '../cards/index.js';
import { authorizationId, isApproved, messageIn, type CardAuthorization } from './record.js';
import { OUR_VOID } from './facts.js';
import type { AuthorizationKey, AuthorizationTerms } from './mutations.js';
import type { Decline } from './rules.js';
import type { AuthorizationStore } from './store.js';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** After this time no further attempt is made. A remaining hold ends with the issuer's next event or at its expiry. */
const GIVE_UP_MS = 5 * 60_000;
/** Voids beyond this number are not attempted. */
const MAX_OPEN = 1_000;

/** Decides the authorization requests of issuers. */
export type Decisions = ReturnType<typeof createDecisions>;

/** The parts that decisions need, and their limits. */
type DecisionDeps = {
  store: Pick<AuthorizationStore, 'decide' | 'commitFact'>;
  cards: Pick<CardParts['store'], 'findIssued'>;
  /** True if cards are switched off for the tenant. */
  cardsDisabled: (tenantId: string) => Promise<boolean>;
  /** The time within which an issuer must be answered. */
  deadlineMsOf: (provider: string) => number;
  terms: AuthorizationTerms;
  log: Log;
};

/** The results of an answer; late: declined because the deadline was over. */
export const DECISION_RESULTS = ['approved', 'declined', 'late'] as const;

/** A decision as it was answered. `ratio`: the time that it took, as a share of the deadline. */
export type AnsweredDecision = {
  provider: string;
  result: (typeof DECISION_RESULTS)[number];
  seconds: number;
  ratio: number;
};

/** A message that is being decided in this process. Every repeat of it meanwhile gets the first answer. */
type PendingDecision = {
  answer: AuthorizationDecision | null;
  decided: Promise<AuthorizationDecision>;
  /** Resolves when the committed decision equals the answer. */
  finished: Promise<void>;
};

/** Without a key: the card is unknown. With a key but without an authorization: the result of the commit is unknown. */
type Committed = {
  key: AuthorizationKey | null;
  authorization: CardAuthorization | null;
  decision: AuthorizationDecision;
};

/**
 * Creates the real-time decisions. The answer is an approval only after its commit and before the deadline; otherwise it is a
 * decline. An approval that is committed after the decline was answered is voided, unless a repeated request may have received
 * it.
 */
export function createDecisions(deps: DecisionDeps) {
  const { deadlineMsOf } = deps;
  const pending = new Map<string, PendingDecision>();
  const listeners: ((answered: AnsweredDecision) => void)[] = [];
  const commit = createCommit(deps);
  const approvalVoider = createApprovalVoider(deps);

  function start(id: string, provider: string, request: AuthorizationRequest): PendingDecision {
    const authorizationRequestId = randomUUID();
    const committed = commit(provider, request, { id, authorizationRequestId });
    const decided = committed.then(({ decision }) => (current.answer ??= decision));
    const finished = Promise.all([committed, decided])
      .then(([{ key, authorization }, { approved, code }]) => {
        // The record has the time at which the issuer is asked about the hold: the dispatcher starts the workflow then.
        if (approved) return undefined;
        // The decline is committed: nothing is held, and a repeat gets the same answer.
        if (!key || (authorization && !isApproved(authorization, request.messageId))) {
          return undefined;
        }
        return approvalVoider.start(key, request, { authorizationRequestId, code });
      })
      .finally(() => pending.delete(pendingKey(id, request)));
    const current: PendingDecision = { answer: null, decided, finished };
    pending.set(pendingKey(id, request), current);
    return current;
  }

  return {
    /** Answers a request before its deadline. Repeats of a message get the same answer. */
    async decide(provider: string, request: AuthorizationRequest): Promise<AuthorizationDecision> {
      const began = performance.now();
      const id = authorizationId(provider, request.token);
      const current = pending.get(pendingKey(id, request)) ?? start(id, provider, request);
      if (current.answer) return current.answer;
      const timer = new AbortController();
      const deadlineMs = timeFor(request, deadlineMsOf(provider));
      const late = sleep(deadlineMs, null, { signal: timer.signal }).catch(() => null);
      const decision = await Promise.race([current.decided, late]);
      timer.abort();
      const answer = (current.answer ??= decision ?? declined('deadline_exceeded'));
      const ms = performance.now() - began;
      const result = decision === null ? 'late' : answer.approved ? 'approved' : 'declined';
      const answered: AnsweredDecision = {
        provider,
        result,
        seconds: ms / 1000,
        ratio: ms / Math.max(1, deadlineMs),
      };
      listeners.forEach((listener) => listener(answered));
      return answer;
    },

    /** Calls `listener` after each answer. It must not fail. */
    onAnswered: (listener: (answered: AnsweredDecision) => void) => void listeners.push(listener),

    /** Waits for the pending decisions. Voids have one more attempt. */
    async idle(): Promise<void> {
      approvalVoider.stop();
      await Promise.all([...pending.values()].map(({ finished }) => finished));
    },
  };
}

/** Creates the commit of a decision. It never rejects: a request that cannot be decided is declined. */
function createCommit({
  store,
  cards,
  cardsDisabled: isDisabled,
  deadlineMsOf,
  terms,
  log,
}: DecisionDeps) {
  return async (
    provider: string,
    request: AuthorizationRequest,
    { id, authorizationRequestId }: { id: string; authorizationRequestId: string },
  ): Promise<Committed> => {
    const answerBy = new Date(Date.now() + timeFor(request, deadlineMsOf(provider)));
    const unknown = { key: null, authorization: null, decision: declined('card_unknown') };
    let key: AuthorizationKey | null = null;
    try {
      const card = await cards.findIssued(provider, request.card);
      if (!card) return unknown;
      key = { tenantId: card.tenant_id, id, card: card._id, provider, token: request.token };
      const cardsDisabled = await isDisabled(card.tenant_id);
      const input = { ...key, request, authorizationRequestId, answerBy, cardsDisabled, terms };
      const authorization = await store.decide(input);
      failpoint('decision.made');
      return authorization
        ? {
            key,
            authorization,
            decision: decisionOf(authorization, request, authorizationRequestId),
          }
        : unknown;
    } catch (error) {
      log.warn(
        { err: error, resource: id, tenant: key?.tenantId },
        'declined, as it could not be decided',
      );
      return { key, authorization: null, decision: declined('service_unavailable') };
    }
  };
}

/** The time that is left for an answer: the issuer's deadline, or less if the request has an earlier one of its own. */
const timeFor = ({ answerBy }: AuthorizationRequest, deadlineMs: number): number =>
  answerBy === null
    ? deadlineMs
    : Math.max(0, Math.min(deadlineMs, answerBy.getTime() - Date.now()));

/** Another message of the same payment is decided by itself. */
const pendingKey = (id: string, { messageId }: AuthorizationRequest) => `${id}/${messageId}`;

const declined = (code: string): AuthorizationDecision => ({
  approved: false,
  code,
  approvedMinor: 0n,
  availableMinor: null,
});

function decisionOf(
  authorization: CardAuthorization,
  { messageId }: AuthorizationRequest,
  authorizationRequestId: string,
): AuthorizationDecision {
  const message = messageIn(authorization, messageId);
  const approved = isApproved(authorization, messageId);
  // The payment keeps no more messages.
  if (!message) return declined('service_unavailable' satisfies Decline);
  if (approved && !message.request_ids.includes(authorizationRequestId))
    return declined('deadline_exceeded' satisfies Decline);
  // After an approval was declined by the issuer or voided, the record still has the code of the approval.
  if (!approved) return declined(message.approved ? 'declined' : message.code);
  const { code, amount_minor: approvedMinor, available_minor: availableMinor } = message;
  return { approved, code, approvedMinor, availableMinor };
}

/**
 * Voids approvals whose answer to the issuer was a decline: the commit was late, or its result is unknown. Commits a decline
 * for the request, which releases the hold, and retries until the commit succeeds or the time is over.
 */
function createApprovalVoider({
  store,
  terms,
  log,
}: Pick<DecisionDeps, 'store' | 'terms' | 'log'>) {
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
        key: `${OUR_VOID}${authorizationRequestId}`,
        kind: 'declined',
        message_id: request.messageId,
        amount_minor: 0n,
      } as const;
      const fact = { ...about, at: new Date() };
      const by = { withdrawsRequestId: authorizationRequestId, request };
      try {
        await store.commitFact({ ...key, fact, code, by, terms });
        return;
      } catch (error) {
        if (stopping.signal.aborted || Date.now() > giveUpAt) {
          return log.error(
            { err: error, resource: key.id, tenant: key.tenantId },
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
          { resource: given[0].id, tenant: given[0].tenantId },
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
