import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { EventName } from '../shared/callback-record.js';
import type { AuthorizationOutcome } from '../shared/journal-effects.js';
import type { AuthorizationRequest, CardRecord, RequestKind } from './records.js';
import type { Authorization, AuthorizationMessage } from './authorization-state.js';
import { decisionAnswer, noSuchCard, presentAuthorization, presentReports } from './wire.js';
import { shownState, type Card } from './card-state.js';
import type { IssuerState } from './state.js';
import type { Journal } from '../shared/journal.js';
import type { Timers } from '../shared/timers.js';
import { asNamed, createPaymentScripts, isForced } from './payment-scripts.js';
import type { Log } from '../shared/log.js';
import type { CallbackResponse, CallbackSender } from '../shared/callback-sender.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';

const NO_ANSWER = { approved: false, code: 'no_answer' };
const STAND_IN = { approved: true, code: 'stand_in' };
/** Approvals of these kinds hold nothing. */
const WITHOUT_HOLD: ReadonlySet<RequestKind> = new Set([
  'verification',
  'balance_inquiry',
  'credit',
]);

type Decision = z.infer<typeof decisionAnswer>;

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
export type OutcomeRequest = {
  outcome: keyof typeof OUTCOMES;
  amount_minor?: number | undefined;
  final: boolean;
  forced?: true | undefined;
  report: boolean;
  /** The time of the outcome, and the number of its callbacks; only of scripts. */
  at?: number;
  times?: number;
};

/** The issuer's operations on authorizations. */
export type Authorizations = {
  /** Simulates a card payment and requests the client's decision at once. The card is named by either side's id. */
  authorize(order: PaymentRequest): Promise<Outcome>;
  /** Lets something become of a payment, and calls back. Outcomes may follow each other. */
  end(token: string, order: OutcomeRequest): Outcome;
  /** Commits several outcomes, reported by one callback. */
  endTogether(token: string, orders: readonly OutcomeRequest[]): void;
  /** A clearing of a payment that nobody has asked about. */
  force(card: Card, order: AuthorizationRequest): Authorization;
  /** The network withdraws its request after the client has approved it. */
  withdraw(one: Authorization): void;
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
  async (body: object, answerBy: number): Promise<Decision | null> => {
    if (url === null) return null;
    await log.flushed();
    const send = async () => {
      const withinMs = Math.min(answerWithinMs, answerBy - Date.now());
      return withinMs > 0 ? callbackSender.post('authorization', url, body, withinMs) : null;
    };
    const first = await send();
    const isAnswered = first !== null && first.status < 500;
    return read(isAnswered ? first : await send());
  };

/** Decides a request: by the client, unless the card's state or the network has decided it already. */
const createDecisionOn =
  (requestDecision: ReturnType<typeof createDecisionRequest>) =>
  async (
    authorization: Authorization,
    request: AuthorizationMessage,
  ): Promise<[Decision, EventName | null]> => {
    if (request.order?.kind === 'advice') return [STAND_IN, 'card.authorization_advice'];
    const state = shownState(authorization.card);
    if (state !== 'open') return [{ approved: false, code: `card_${state}` }, null];
    const body = requestBody(authorization, request);
    const decision = (await requestDecision(body, answerByOf(request) ?? Infinity)) ?? NO_ANSWER;
    return [decision, decision.approved ? null : 'card.declined'];
  };

/** The approved amount: less than the requested one only if the request allows it. */
function approvedMinor({ order }: AuthorizationMessage, decision: Decision): number {
  if (!order || WITHOUT_HOLD.has(order.kind)) return 0;
  const { approved_amount_minor: said = order.amount_minor } = decision;
  return order.partial_approval ? Math.min(said, order.amount_minor) : order.amount_minor;
}

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
    request: AuthorizationMessage,
    decision: Decision,
    event: EventName | null,
  ) {
    const { approved, code } = decision;
    const { number: message, order } = request;
    const at = Date.now();
    const kind = approved ? 'authorized' : 'declined';
    const seq = journal.nextSeq();
    const approved_minor = approvedMinor(request, decision);
    const record = { kind, authorization, message, seq, code, approved_minor, at } as const;
    if (approved && order?.kind === 'financial') {
      const { id: message_id } = request;
      const next = { message: message + 1, message_id, seq: seq + 1, is_final: true } as const;
      const cleared = { kind: 'cleared', authorization, amount_minor: approved_minor, at } as const;
      journal.commit([record, { ...cleared, ...next }]);
    } else if (event === null) journal.commit([record]);
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
  parts: DecisionParts & { state: IssuerState; journal: Journal<CardRecord>; timers: Timers },
): Authorizations {
  const { journal } = parts;
  const { cards, authorizations } = parts.state;
  const { ask, decide } = createRequests(parts);
  const decisionOn = createDecisionOn(createDecisionRequest(parts));

  const self: Authorizations = {
    async authorize({ card: name, authorization: token, ...given }) {
      const order = token === undefined ? asNamed(given) : given;
      const known = token === undefined ? undefined : authorizations.withToken(token);
      if (token !== undefined && !known) return noSuchAuthorization();
      const card = known?.card ?? cards.withId(name) ?? cards.withReference(name);
      if (card?.status !== 'issued') return noSuchCard();
      if (known === undefined && isForced(order)) {
        const forced = self.force(card, order);
        scripts.begin(forced);
        const { token: of, messages } = forced;
        const [message] = messages;
        const nothing = { approved: false, approved_amount_minor: 0, code: 'never_asked' };
        return answer(200, { token: of, message_id: message?.id, ...nothing });
      }
      const { authorization, request } = ask(card, known, order);
      const [decision, event] = await decisionOn(authorization, request);
      decide(authorization, request, decision, event);
      if (known === undefined) scripts.begin(authorization);
      const { approved, code, available_minor: available } = decision;
      return answer(200, {
        token: authorization.token,
        message_id: request.id,
        approved,
        approved_amount_minor: approved ? approvedMinor(request, decision) : 0,
        code,
        ...(available != null && { available_minor: available }),
      });
    },
    end(token, { outcome, amount_minor: given, final, forced, report, at: when, times = 1 }) {
      const one = authorizations.withToken(token);
      if (!one) return noSuchAuthorization();
      const refusal = refusalOf(one, outcome);
      if (refusal) return refusal;
      const { event, ...record } = outcomeOf(one, { outcome, amount_minor: given, final, forced });
      const about = { authorization: one.number, message: record.message };
      const at = when ?? nextTime(one);
      const happened = { ...record, seq: journal.nextSeq(), at };
      if (report) journal.commitAndNotify(happened, { about, event, at, times });
      else journal.commit([happened]);
      return answer(200, presentAuthorization(one));
    },
    ...createNetworkActs(parts, { end: (token, order) => self.end(token, order), ask, decide }),
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
        scripts.begin(authorization);
      }
    },
  };
  const scripts = createPaymentScripts({ ...parts, authorizations: self });
  return self;
}

/** The acts of the network that the scripts of payments need besides outcomes. */
function createNetworkActs(
  { journal, state: { authorizations } }: { state: IssuerState; journal: Journal<CardRecord> },
  { end, ask, decide }: Pick<Authorizations, 'end'> & ReturnType<typeof createRequests>,
): Pick<Authorizations, 'endTogether' | 'force' | 'withdraw'> {
  return {
    endTogether(token, orders) {
      const one = authorizations.withToken(token);
      if (!one) return;
      const from = one.messages.length;
      for (const order of orders) end(token, { ...order, report: false });
      const about = { authorization: one.number, message: one.messages.length - 1, from };
      journal.notify({ about, event: 'card.authorization_updated', at: Date.now() });
    },
    force(card, order) {
      const { authorization, request } = ask(card, undefined, order);
      decide(authorization, request, { approved: false, code: 'never_asked' }, null);
      return authorization;
    },
    withdraw(one) {
      const [request] = one.messages;
      if (!request) return;
      const about = { authorization: one.number, message: request.number };
      const at = nextTime(one);
      const declined = {
        kind: 'declined',
        ...about,
        code: 'withdrawn',
        approved_minor: 0,
      } as const;
      journal.commitAndNotify(
        { ...declined, seq: journal.nextSeq(), at },
        { about, event: 'card.declined', at },
      );
    },
  };
}

/** The messages of one payment have different times, so that their order is known. */
const nextTime = (one: Authorization | undefined): number =>
  Math.max(Date.now(), (one?.messages.at(-1)?.at ?? 0) + 1);

/** The outcome as the journal stores it, and the event that reports it. */
function outcomeOf(
  one: Authorization,
  { outcome, amount_minor: given, final, forced }: Omit<OutcomeRequest, 'report'>,
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
    ...(forced && { forced }),
  };
}

/** A declined payment has no outcome, unless its money was taken or refunded all the same. */
function refusalOf(
  { status, messages }: Authorization,
  outcome: keyof typeof OUTCOMES,
): Outcome | null {
  const isDecided = messages.some((each) => each.status !== 'asked' && each.status !== 'declined');
  const isForcedOne = messages.some((each) => each.code === 'never_asked');
  if (isDecided || isForcedOne || outcome === 'refunded') return null;
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
function requestBody({ token, card }: Authorization, request: AuthorizationMessage) {
  const { id, order, at } = request;
  const requestedAt = new Date(at).toISOString();
  const { answer_within_ms: _, ...asked } = order ?? {};
  const answerBy = answerByOf(request);
  return {
    id,
    event: 'card.authorization_requested',
    occurred_at: requestedAt,
    data: {
      reference: token,
      message_id: id,
      client_reference: card.order.reference,
      card: card.face?.id,
      ...asked,
      currency: 'NGN',
      requested_at: requestedAt,
      ...(answerBy !== null && { answer_by: new Date(answerBy).toISOString() }),
    },
  };
}

/** The time by which the client is told to answer; null if it is told none. */
const answerByOf = ({ order, at }: AuthorizationMessage): number | null =>
  order?.answer_within_ms === undefined ? null : at + order.answer_within_ms;

function read(reply: CallbackResponse): Decision | null {
  if (reply?.status !== 200) return null;
  try {
    return decisionAnswer.parse(JSON.parse(reply.text));
  } catch {
    return null;
  }
}
