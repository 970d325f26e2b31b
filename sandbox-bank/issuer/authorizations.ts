import { randomUUID } from 'node:crypto';
import type { EventName } from '../shared/callback-record.js';
import type { AuthorizationOutcome } from '../shared/journal-effects.js';
import type { AuthorizationRequest, CardRecord } from './records.js';
import type { Authorization, AuthorizationMessage } from './authorization-state.js';
import { decisionAnswer, noSuchCard, presentAuthorization, presentReports } from './wire.js';
import type { Card } from './card-state.js';
import type { IssuerState } from './state.js';
import type { Journal } from '../shared/journal.js';
import type { Log } from '../shared/log.js';
import type { CallbackResponse, CallbackSender } from '../shared/callback-sender.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';

const NO_ANSWER = { approved: false, code: 'no_answer' };
const STAND_IN = { approved: true, code: 'stand_in' };

type Decision = { approved: boolean; code: string };

/** A request about a payment: a new one, or, with its token, a further one of the same payment. */
type PaymentRequest = AuthorizationRequest & { card: string; authorization?: string | undefined };

/** The outcomes of the control, by their names there. */
const OUTCOMES = {
  cleared: ['cleared', 'card.cleared'],
  reversed: ['authorization_reversed', 'card.authorization_reversed'],
  expired: ['authorization_expired', 'card.authorization_expired'],
  refunded: ['refunded_to_card', 'card.refunded'],
  refund_reversed: ['card_refund_reversed', 'card.refund_reversed'],
  corrected: ['clearing_corrected', 'card.corrected'],
} as const satisfies Readonly<Record<string, readonly [AuthorizationOutcome, EventName]>>;

/** A change of a payment. Without an amount: all that is held, or, where nothing is held, all that was taken. */
type OutcomeRequest = {
  outcome: keyof typeof OUTCOMES;
  amount_minor?: number | undefined;
  final: boolean;
  report: boolean;
};

/** The issuer's operations on authorizations. */
export type Authorizations = {
  /** Simulates a card payment and requests the client's decision at once. The card is named by either side's id. */
  authorize(order: PaymentRequest): Promise<Outcome>;
  /** Lets something become of a payment, and calls back. Outcomes may follow each other. */
  end(token: string, order: OutcomeRequest): Outcome;
  /** Everything that has become of a payment. */
  find(token: string): Outcome;
  /** After a start: declines the requests that had no decision at the last stop. */
  resume(): void;
};

type DecisionParts = {
  log: Log;
  callbackSender: CallbackSender;
  /** The client's address for authorization requests; null declines everything. */
  url: string | null;
  /** Time limit of each of the two authorization requests. */
  answerWithinMs: number;
};

/** Creates the request to the client. It is sent at most twice; null if no readable answer arrived in time. */
const createDecisionRequest =
  ({ log, callbackSender, url, answerWithinMs }: DecisionParts) =>
  async (body: object): Promise<Decision | null> => {
    if (url === null) return null;
    await log.flushed();
    const first = await callbackSender.post('authorization', url, body, answerWithinMs);
    const isAnswered = first !== null && first.status < 500;
    return read(
      isAnswered ? first : await callbackSender.post('authorization', url, body, answerWithinMs),
    );
  };

/** Decides a request: by the client, unless the card's state or the network has decided it already. */
const createDecisionOn =
  (requestDecision: ReturnType<typeof createDecisionRequest>) =>
  async (
    authorization: Authorization,
    request: AuthorizationMessage,
  ): Promise<[Decision, EventName | null]> => {
    if (request.order?.kind === 'advice') return [STAND_IN, 'card.authorization_advice'];
    const { state } = authorization.card;
    if (state !== 'open') return [{ approved: false, code: `card_${state}` }, null];
    const decision = (await requestDecision(requestBody(authorization, request))) ?? NO_ANSWER;
    return [decision, decision.approved ? null : 'card.declined'];
  };

/** Writes requests and their decisions into the journal. */
function createRequests({
  journal,
  state: { authorizations },
}: {
  state: IssuerState;
  journal: Journal<CardRecord>;
}) {
  /**
   * Reports every decline that the client was asked about: its approval may have been lost, or it may have changed
   * its decision, so it may hold the money. An approval in its place is reported too.
   */
  function decide(
    { number: authorization }: Authorization,
    { number: message }: AuthorizationMessage,
    { approved, code }: Decision,
    event: EventName | null,
  ) {
    const at = Date.now();
    const kind = approved ? 'authorized' : 'declined';
    const seq = journal.nextSeq();
    const record = { kind, authorization, message, seq, code, at } as const;
    if (event === null) journal.commit([record]);
    else journal.commitAndNotify(record, { about: { authorization, message }, event, at });
  }

  /** Stores a request, of a new payment or of a known one. */
  function ask(card: Card, known: Authorization | undefined, order: AuthorizationRequest) {
    const number = known?.number ?? authorizations.all.length;
    const token = known?.token ?? randomUUID();
    const message = known?.messages.length ?? 0;
    const asked = { kind: 'authorization_asked', authorization: number, token, message } as const;
    const message_id = randomUUID();
    journal.commit([{ ...asked, message_id, order, card: card.number, at: nextTime(known) }]);
    const authorization = authorizations.get(number);
    return { authorization, request: messageOf(authorization, message) };
  }

  return { ask, decide };
}

/** Creates the issuer's authorizations. */
export function createAuthorizations(
  parts: DecisionParts & { state: IssuerState; journal: Journal<CardRecord> },
): Authorizations {
  const { journal } = parts;
  const { cards, authorizations } = parts.state;
  const { ask, decide } = createRequests(parts);
  const decisionOn = createDecisionOn(createDecisionRequest(parts));

  return {
    async authorize({ card: name, authorization: token, ...order }) {
      const known = token === undefined ? undefined : authorizations.withToken(token);
      if (token !== undefined && !known) return noSuchAuthorization();
      const card = known?.card ?? cards.withId(name) ?? cards.withReference(name);
      if (card?.status !== 'issued') return noSuchCard();
      const { authorization, request } = ask(card, known, order);
      const [decision, event] = await decisionOn(authorization, request);
      decide(authorization, request, decision, event);
      return answer(200, {
        token: authorization.token,
        message_id: request.id,
        approved: decision.approved,
        approved_amount_minor: decision.approved ? order.amount_minor : 0,
        code: decision.code,
      });
    },
    end(token, { outcome, amount_minor: given, final, report }) {
      const one = authorizations.withToken(token);
      if (!one) return noSuchAuthorization();
      const refusal = refusalOf(one, outcome);
      if (refusal) return refusal;
      const { event, ...record } = outcomeOf(one, { outcome, amount_minor: given, final });
      const about = { authorization: one.number, message: record.message };
      const at = nextTime(one);
      const happened = { ...record, seq: journal.nextSeq(), at };
      if (report) journal.commitAndNotify(happened, { about, event, at });
      else journal.commit([happened]);
      return answer(200, presentAuthorization(one));
    },
    find(token) {
      const one = authorizations.withToken(token);
      return one ? answer(200, presentReports(one)) : noSuchAuthorization();
    },
    resume() {
      for (const authorization of authorizations.all) {
        for (const message of authorization.messages) {
          if (message.status === 'asked')
            decide(authorization, message, NO_ANSWER, 'card.declined');
        }
      }
    },
  };
}

/** The messages of one payment have different times, so that their order is known. */
const nextTime = (one: Authorization | undefined): number =>
  Math.max(Date.now(), (one?.messages.at(-1)?.at ?? 0) + 1);

/** The outcome as the journal stores it, and the event that reports it. */
function outcomeOf(
  one: Authorization,
  { outcome, amount_minor: given, final }: Omit<OutcomeRequest, 'report'>,
) {
  const [kind, event] = OUTCOMES[outcome];
  const taken = Math.max(0, one.takenMinor);
  const whole = one.heldMinor + (outcome === 'reversed' ? taken : 0);
  return {
    kind,
    event,
    authorization: one.number,
    message: one.messages.length,
    message_id: randomUUID(),
    amount_minor: given ?? (whole > 0 ? whole : taken),
    is_final: outcome === 'cleared' ? final : given === undefined,
  };
}

/** A declined payment has no outcome, unless its money was taken or refunded all the same. */
function refusalOf(
  { status, messages }: Authorization,
  outcome: keyof typeof OUTCOMES,
): Outcome | null {
  const isDecided = messages.some((each) => each.status !== 'asked' && each.status !== 'declined');
  if (isDecided || outcome === 'refunded') return null;
  return errorAnswer(409, 'not_authorized', `the authorization is ${status}`);
}

const noSuchAuthorization = () =>
  errorAnswer(404, 'authorization_not_found', 'there is no such authorization');

function messageOf({ messages }: Authorization, number: number): AuthorizationMessage {
  const message = messages[number];
  if (!message) throw new Error('an authorization has no such message');
  return message;
}

/** A repeat of the request has the same body. */
function requestBody({ token, card }: Authorization, { id, order, at }: AuthorizationMessage) {
  const requestedAt = new Date(at).toISOString();
  return {
    id,
    event: 'card.authorization_requested',
    occurred_at: requestedAt,
    data: {
      reference: token,
      message_id: id,
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
