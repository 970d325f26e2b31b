import { behaviourOf, timesTurnedAway } from './behaviours.js';
import type { Books } from './books.js';
import { findBank } from './directory.js';
import type { BankRecord, Order } from './records.js';
import type { State, Transfer } from './state.js';
import { answer, errorAnswer, SILENCE, type Outcome } from './wire.js';

/** How far ahead of ours a client's clock may be where the age of a request matters: it adds to the age limit. */
const CLOCK_AHEAD_MS = 250;

type Parts = {
  state: State;
  books: Books;
  present: (transfer: Transfer) => unknown;
  deduplicate: boolean;
  finalAfterMs: number;
};

/**
 * Takes an order, in one turn of the event loop: requests are judged one by one, each at the time at which it is
 * executed, however long it waited in a socket.
 */
export function createSubmit(parts: Parts): (order: Order) => Outcome {
  const { state, books, present, deduplicate, finalAfterMs } = parts;

  function repeated(first: Transfer, order: Order): Outcome {
    if (!isSameTransfer(first.order, order)) {
      return errorAnswer(409, 'reference_conflict', 'the reference belongs to another transfer');
    }
    return first.behaviour === 'paid_without_answer' ? SILENCE : answer(200, present(first));
  }

  /** Null: this one is taken. The count is durable, so that a restart does not begin it again. */
  function turnedAway(order: Order, at: number): Outcome | null {
    const behaviour = behaviourOf(order.account);
    if (state.timesTurnedAway(order.reference) >= timesTurnedAway(behaviour)) return null;
    books.commit([{ kind: 'turned_away', reference: order.reference, at }]);
    return behaviour === 'throttled_first'
      ? errorAnswer(429, 'throttled', 'too many requests', { 'retry-after': '1' })
      : errorAnswer(500, 'internal_error', 'something went wrong');
  }

  function take(order: Order, at: number): Transfer {
    const number = state.transfers.length;
    const refusal = refusalOf(order);
    const outcome: BankRecord[] = [];
    if (refusal !== null) outcome.push({ kind: 'refused', transfer: number, code: refusal, at });
    else if (isPaidAtOnce(order)) outcome.push(books.paid(number, at));
    books.commit([{ kind: 'submitted', transfer: number, order, at }, ...outcome]);
    const transfer = state.get(number);
    books.scheduleWhatIsDue(transfer);
    return transfer;
  }

  return (order) => {
    const at = Date.now();
    const first = deduplicate ? state.withReference(order.reference)[0] : undefined;
    if (first) return repeated(first, order);
    const late = deduplicate ? null : outOfTime(order, at, finalAfterMs);
    if (late) return late;
    if (behaviourOf(order.account) === 'lost') return SILENCE;
    const away = turnedAway(order, at);
    if (away) return away;
    const transfer = take(order, at);
    return transfer.behaviour === 'paid_without_answer' ? SILENCE : answer(201, present(transfer));
  };
}

/**
 * Without de-duplication the age of a request is all that stands between a freeze and a second payment. Says only
 * that this request did nothing: an earlier one with the same reference may have paid.
 */
function outOfTime(order: Order, at: number, finalAfterMs: number): Outcome | null {
  const ageMs = at - Date.parse(order.requested_at);
  if (ageMs >= finalAfterMs) {
    return errorAnswer(422, 'too_old', 'not executed: the request is too old');
  }
  if (ageMs < -CLOCK_AHEAD_MS) {
    return errorAnswer(422, 'too_early', 'not executed: the request is from the future');
  }
  return null;
}

function refusalOf(order: Order): string | null {
  const behaviour = behaviourOf(order.account);
  if (behaviour === 'no_such_account' || !findBank(order.bank_code)) return 'no_such_account';
  return behaviour === 'refused' ? 'account_closed' : null;
}

function isPaidAtOnce(order: Order): boolean {
  return !['paid_later', 'told_out_of_order', 'pending'].includes(behaviourOf(order.account));
}

function isSameTransfer(a: Order, b: Order): boolean {
  return (
    a.amount_minor === b.amount_minor &&
    a.account === b.account &&
    bankKey(a.bank_code) === bankKey(b.bank_code)
  );
}

/** Two codes of one bank are equal; a code of no bank is equal to itself. */
function bankKey(code: string): string {
  return findBank(code)?.nip_code ?? code;
}
