import { answeredAfterMs, timesTurnedAway, type Behaviour } from './behaviours.js';
import type { Journal } from './journal.js';
import type { LaggingCopy } from './lagging-copy.js';
import type { Timers } from './timers.js';
import { answer, errorAnswer, SILENCE, type Outcome } from './wire.js';

/** A client's clock may be this far ahead of ours; it adds to the age limit. */
const CLOCK_AHEAD_MS = 250;

/** A request that is executed late waits for so long. */
const EXECUTED_LATE_MS = 20_000;

type TimedRequest = { requested_at: string };

/** One kind of request, as the request handler uses it. */
export type RequestKind<Order extends TimedRequest, Thing extends { createdAt: number }> = {
  what: string;
  /** Finds the newest record with the reference of this request. */
  find(order: Order): Thing | undefined;
  isSame(thing: Thing, order: Order): boolean;
  behaviourOf(order: Order): Behaviour;
  /** The key under which rejected requests are counted. */
  keyOf(order: Order): string;
  accept(order: Order, at: number): Thing;
  present(thing: Thing): unknown;
};

/** The rules for repeated and rejected requests. */
export type RequestRules = {
  turnAway: TurnAway;
  /** Requests that are executed late wait here. */
  timers: Timers;
  deduplicate: boolean;
  /** A reference is forgotten this long after its acceptance: then a repeat is executed again. Null: never. */
  deduplicateForMs: number | null;
  conclusiveAfterMs: number;
  /** Without de-duplication for ever, requests of that age are refused. */
  refusesOld: boolean;
  /** Resend safety `fence`: the cancellation of a reference that is not known is final. */
  fences: boolean;
  /** The copy that answers look-ups after a fail-over. */
  copy: LaggingCopy;
};

/**
 * Creates the handler of one kind of request. It runs in one turn of the event loop, so requests are decided one by
 * one, each at its time of execution, however long it waited in a socket.
 */
export function createRequestHandler<
  Order extends TimedRequest,
  Thing extends { createdAt: number },
>(kind: RequestKind<Order, Thing>, rules: RequestRules): (order: Order) => Outcome {
  const { turnAway, timers, deduplicate, deduplicateForMs, conclusiveAfterMs } = rules;
  const remembersMs = deduplicateForMs ?? Infinity;
  const handle = (order: Order): Outcome => {
    const at = Date.now();
    const behaviour = kind.behaviourOf(order);
    const first = deduplicate ? kind.find(order) : undefined;
    if (first && at - first.createdAt < remembersMs) {
      return kind.isSame(first, order) && behaviour !== 'conflict_on_repeat'
        ? answered(behaviour, 200, kind.present(first))
        : errorAnswer(409, 'reference_conflict', `the reference belongs to another ${kind.what}`);
    }
    const isTimeless = deduplicate ? deduplicateForMs === null : !rules.refusesOld;
    const late = isTimeless ? null : outOfTime(order, at, conclusiveAfterMs);
    if (late) return late;
    // Where "not found" is conclusive, nothing may be executed after it.
    const isConclusive = !deduplicate && rules.refusesOld;
    if (behaviour === 'lost' || (behaviour === 'done_much_later' && isConclusive)) return SILENCE;
    const away = turnAway(kind.keyOf(order), behaviour, at);
    if (away && behaviour === 'executed_late')
      timers.after(EXECUTED_LATE_MS, () => void handle(order));
    if (away) return away;
    return answered(behaviour, 201, kind.present(kind.accept(order, at)));
  };
  return handle;
}

const SILENT_FIRST: ReadonlySet<Behaviour> = new Set([
  'lost_first',
  'executed_late',
  'prepared_without_answer_first',
]);

const UNANSWERED: ReadonlySet<Behaviour> = new Set([
  'done_without_answer',
  'conflict_on_repeat',
  'done_much_later',
]);

/** The answer to an executed request: delayed or silent, as the behaviour says. */
export function answered(behaviour: Behaviour, status: number, body: unknown): Outcome {
  if (UNANSWERED.has(behaviour)) return SILENCE;
  return { ...answer(status, body), afterMs: answeredAfterMs(behaviour) };
}

/** The refusal of a transfer that the client's balance does not cover. */
export const uncovered = (): Outcome =>
  errorAnswer(422, 'insufficient_float', 'not executed: your balance is too small');

/** Decides whether a request is rejected without being executed; null accepts it. */
type TurnAway = (key: string, behaviour: Behaviour, at: number) => Outcome | null;

/**
 * Creates the rule that rejects the first requests of some behaviours. The count is in the journal, so it survives a
 * restart.
 */
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
    if (SILENT_FIRST.has(behaviour)) return SILENCE;
    if (behaviour === 'uncovered_first') return uncovered();
    if (behaviour === 'refused_first') return errorAnswer(422, 'not_now', 'refused');
    return behaviour === 'throttled_first'
      ? errorAnswer(429, 'throttled', 'too many requests', { 'retry-after': '1' })
      : errorAnswer(500, 'internal_error', 'something went wrong');
  };
}

/**
 * Without de-duplication, or once it has ended, only the age limit prevents a second payment after a freeze. The refusal
 * says only that this request did nothing: an earlier one with the same reference may have paid.
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
