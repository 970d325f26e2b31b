import { answeredAfterMs, timesTurnedAway, type Behaviour } from './behaviours.js';
import type { Journal } from './journal.js';
import { answer, errorAnswer, SILENCE, type Outcome } from './wire.js';

/** How far ahead of ours a client's clock may be where the age of a request matters: it adds to the age limit. */
const CLOCK_AHEAD_MS = 250;

type TimedRequest = { requested_at: string };

/** What an intake has to know of the things that are ordered. */
export type RequestKind<Order extends TimedRequest, Thing> = {
  what: string;
  /** The oldest with the reference of this order. */
  find(order: Order): Thing | undefined;
  isSame(thing: Thing, order: Order): boolean;
  behaviourOf(order: Order): Behaviour;
  /** What its turned away requests are counted under. */
  keyOf(order: Order): string;
  accept(order: Order, at: number): Thing;
  present(thing: Thing): unknown;
};

export type RequestRules = { turnAway: TurnAway; deduplicate: boolean; conclusiveAfterMs: number };

/**
 * Takes an order, in one turn of the event loop: requests are judged one by one, each at the time at which it is
 * executed, however long it waited in a socket.
 */
export function createRequestHandler<Order extends TimedRequest, Thing>(
  kind: RequestKind<Order, Thing>,
  rules: RequestRules,
): (order: Order) => Outcome {
  const { turnAway, deduplicate, conclusiveAfterMs } = rules;
  return (order) => {
    const at = Date.now();
    const behaviour = kind.behaviourOf(order);
    const first = deduplicate ? kind.find(order) : undefined;
    if (first) {
      return kind.isSame(first, order)
        ? answered(behaviour, 200, kind.present(first))
        : errorAnswer(409, 'reference_conflict', `the reference belongs to another ${kind.what}`);
    }
    const late = deduplicate ? null : outOfTime(order, at, conclusiveAfterMs);
    if (late) return late;
    if (behaviour === 'lost') return SILENCE;
    const away = turnAway(kind.keyOf(order), behaviour, at);
    if (away) return away;
    return answered(behaviour, 201, kind.present(kind.accept(order, at)));
  };
}

/** What is heard of an order that was executed. */
export function answered(behaviour: Behaviour, status: number, body: unknown): Outcome {
  if (behaviour === 'done_without_answer') return SILENCE;
  return { ...answer(status, body), afterMs: answeredAfterMs(behaviour) };
}

export type TurnAway = (key: string, behaviour: Behaviour, at: number) => Outcome | null;

/** Null: this one is taken. The count is durable, so that a restart does not begin it again. */
export function createTurnAway({
  state,
  journal,
}: {
  state: { timesTurnedAway(key: string): number };
  journal: Journal;
}): TurnAway {
  return (key, behaviour, at) => {
    if (state.timesTurnedAway(key) >= timesTurnedAway(behaviour)) return null;
    journal.commit([{ kind: 'turned_away', reference: key, at }]);
    if (behaviour === 'lost_first') return SILENCE;
    if (behaviour === 'refused_first') return errorAnswer(422, 'not_now', 'refused');
    return behaviour === 'throttled_first'
      ? errorAnswer(429, 'throttled', 'too many requests', { 'retry-after': '1' })
      : errorAnswer(500, 'internal_error', 'something went wrong');
  };
}

/**
 * Without de-duplication the age of a request is all that stands between a freeze and a second payment. Says only
 * that this request did nothing: an earlier one with the same reference may have paid.
 */
function outOfTime(order: TimedRequest, at: number, conclusiveAfterMs: number): Outcome | null {
  const ageMs = at - Date.parse(order.requested_at);
  if (ageMs >= conclusiveAfterMs) {
    return errorAnswer(422, 'too_old', 'not executed: the request is too old');
  }
  if (ageMs < -CLOCK_AHEAD_MS) {
    return errorAnswer(422, 'too_early', 'not executed: the request is from the future');
  }
  return null;
}
