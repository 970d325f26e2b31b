import { randomUUID } from 'node:crypto';
import type { AuthorizationEnd } from '../shared/journal-effects.js';
import type { AuthorizationRequest, CardRecord } from './records.js';
import type { Authorization } from './authorization-state.js';
import { decisionAnswer, noSuchCard, presentAuthorization } from './wire.js';
import type { IssuerState } from './state.js';
import type { Journal } from '../shared/journal.js';
import type { Log } from '../shared/log.js';
import type { CallbackResponse, CallbackSender } from '../shared/callback-sender.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';

const NO_ANSWER = { approved: false, code: 'no_answer' };

type Decision = { approved: boolean; code: string };

type AuthorizationEndRequest = {
  outcome: 'cleared' | 'reversed' | 'expired';
  amount_minor?: number | undefined;
};

/** The issuer's operations on authorizations. */
export type Authorizations = {
  /** Simulates a card payment and requests the client's decision at once. The card is named by either side's id. */
  authorize(order: AuthorizationRequest & { card: string }): Promise<Outcome>;
  /** Ends an approved authorization and calls back. */
  end(token: string, order: AuthorizationEndRequest): Outcome;
  /** After a start: declines the authorizations that had no decision at the last stop. */
  resume(): void;
};

/** Creates the issuer's authorizations. */
export function createAuthorizations(parts: {
  state: IssuerState;
  journal: Journal<CardRecord>;
  log: Log;
  callbackSender: CallbackSender;
  /** The client's address for authorization requests; null declines everything. */
  url: string | null;
  /** Time limit of each of the two authorization requests. */
  answerWithinMs: number;
}): Authorizations {
  const { journal, log, callbackSender, url, answerWithinMs } = parts;
  const { cards, authorizations } = parts.state;

  /** Sends the request at most twice. Returns null if no readable answer arrived in time. */
  async function requestDecision(authorization: Authorization): Promise<Decision | null> {
    if (url === null) return null;
    await log.flushed();
    const body = requestBody(authorization);
    const first = await callbackSender.post('authorization', url, body, answerWithinMs);
    const isAnswered = first !== null && first.status < 500;
    return read(
      isAnswered ? first : await callbackSender.post('authorization', url, body, answerWithinMs),
    );
  }

  /**
   * Reports every decline that the client was asked about: its approval may have been lost, or it may have changed
   * its decision, so it may hold the money.
   */
  function decide({ number }: Authorization, { approved, code }: Decision, isAsked: boolean) {
    const at = Date.now();
    const kind = approved ? 'authorized' : 'declined';
    const record = { kind, authorization: number, seq: journal.nextSeq(), code, at } as const;
    const about = { authorization: number };
    if (approved || !isAsked) journal.commit([record]);
    else journal.commitAndNotify(record, { about, event: 'card.declined', at });
    return { approved, code };
  }

  return {
    async authorize({ card: name, ...order }) {
      const card = cards.withId(name) ?? cards.withReference(name);
      if (card?.status !== 'issued') return noSuchCard();
      const number = authorizations.all.length;
      const token = `auth_${randomUUID().replaceAll('-', '')}`;
      const asked = { kind: 'authorization_asked', authorization: number, token, order } as const;
      journal.commit([{ ...asked, card: card.number, at: Date.now() }]);
      const authorization = authorizations.get(number);
      const isOpen = card.state === 'open';
      const decision = isOpen
        ? ((await requestDecision(authorization)) ?? NO_ANSWER)
        : { approved: false, code: `card_${card.state}` };
      return answer(200, { token, ...decide(authorization, decision, isOpen) });
    },
    end(token, { outcome, amount_minor }) {
      const authorization = authorizations.withToken(token);
      if (!authorization) {
        return errorAnswer(404, 'authorization_not_found', 'there is no such authorization');
      }
      const kind: AuthorizationEnd = outcome === 'cleared' ? outcome : `authorization_${outcome}`;
      const { number, status, amountMinor } = authorization;
      const amount = amount_minor ?? amountMinor;
      if (status === 'authorized') {
        const at = Date.now();
        const seq = journal.nextSeq();
        journal.commitAndNotify(
          { kind, authorization: number, seq, amount_minor: amount, at },
          { about: { authorization: number }, event: `card.${kind}`, at },
        );
      } else if (status !== kind || amount !== amountMinor) return notSo(authorization);
      return answer(200, presentAuthorization(authorization));
    },
    resume() {
      for (const authorization of authorizations.all) {
        if (authorization.status === 'asked') decide(authorization, NO_ANSWER, true);
      }
    },
  };
}

function notSo({ status }: Authorization): Outcome {
  const code = status === 'asked' || status === 'declined' ? 'not_authorized' : 'already_settled';
  return errorAnswer(409, code, `the authorization is ${status}`);
}

/** Both requests have the same body. */
function requestBody({ token, card, order, createdAt }: Authorization) {
  const requestedAt = new Date(createdAt).toISOString();
  return {
    id: token,
    event: 'card.authorization_requested',
    occurred_at: requestedAt,
    data: {
      reference: token,
      client_reference: card.order.reference,
      card: card.face?.id,
      ...order,
      currency: 'NGN',
      requested_at: requestedAt,
    },
  };
}

function read(reply: CallbackResponse): Decision | null {
  if (reply?.status !== 200) return null;
  try {
    return decisionAnswer.parse(JSON.parse(reply.text));
  } catch {
    return null;
  }
}
