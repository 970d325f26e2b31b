import { doneAfterMs, isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import type { Journal } from '../shared/journal.js';
import { createRequestHandler, type RequestRules } from '../shared/request-handler.js';
import type { Timers } from '../shared/timers.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import { checkBehaviour, rejectionOf } from './behaviours.js';
import type { CheckRecord, CheckRequest, CheckResult } from './records.js';
import type { Check, IdentityState } from './state.js';
import { presentCheck } from './wire.js';

/** The bank's operations on identity checks. */
export type Checks = {
  /** `earlierDigests`: those that the same request has under earlier secrets. */
  start(order: CheckRequest, earlierDigests: readonly string[]): Outcome;
  lookup(reference: string): Outcome;
  /** Decides a pending check, for tests. */
  setOutcome(reference: string, result: CheckResult, code: string | null): Outcome;
  /** After a start: schedules the outcomes that were still open at the last stop. */
  resume(): void;
};

type Parts = {
  state: IdentityState;
  journal: Journal<CheckRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
};

/** Creates the identity checks. */
export function createChecks(parts: Parts): Checks {
  const { state, rules, sendsCallbacks } = parts;
  const outcomes = createOutcomes(parts);
  const present = (check: Check) => {
    const ended = check.status !== 'pending';
    return presentCheck(check, ended && isOutcomeWithheld(check, sendsCallbacks));
  };

  const handle = createRequestHandler<CheckRequest, Check>(
    {
      what: 'check',
      find: ({ reference }) => state.withReference(reference),
      isSame: ({ order }, repeated) =>
        order.check_type === repeated.check_type && order.digest === repeated.digest,
      behaviourOf: checkBehaviour,
      keyOf: ({ reference }) => `check/${reference}`,
      accept: outcomes.accept,
      present,
    },
    rules,
  );

  return {
    start(order, earlierDigests) {
      const digest = state.withReference(order.reference)?.order.digest;
      const isEarlier = digest !== undefined && earlierDigests.includes(digest);
      return handle(isEarlier ? { ...order, digest } : order);
    },
    lookup(reference) {
      const check = rules.copy.lacks(reference) ? undefined : state.withReference(reference);
      return check ? answer(200, present(check)) : noSuchCheck();
    },
    setOutcome(reference, result, code) {
      const check = state.withReference(reference);
      if (!check) return noSuchCheck();
      if (check.status === 'pending') outcomes.end(check, result, code);
      else if (check.status !== result) {
        return errorAnswer(409, 'already_settled', `the check is already ${check.status}`);
      }
      return answer(200, presentCheck(check));
    },
    resume: () => state.all.forEach(outcomes.schedule),
  };
}

/** Creates the part that decides checks, at once or after the time that their behaviour says. */
function createOutcomes({ state, journal, timers }: Parts) {
  const checked = (check: number, result: CheckResult, code: string | null, at: number) =>
    ({ kind: 'checked', check, seq: journal.nextSeq(), result, code, at }) as const;
  const byOrder = (order: CheckRequest): [CheckResult, string | null] => {
    const code = rejectionOf(order);
    return [code === null ? 'verified' : 'rejected', code];
  };

  function end({ number }: Check, result: CheckResult, code: string | null): void {
    const at = Date.now();
    const notice = { about: { check: number }, event: `check.${result}`, at } as const;
    journal.commitAndNotify(checked(number, result, code, at), notice);
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function schedule(check: Check): void {
    const afterMs = check.status === 'pending' ? doneAfterMs(check.behaviour) : null;
    if (afterMs === null) return;
    timers.after(check.createdAt + afterMs - Date.now(), () => {
      if (check.status === 'pending') end(check, ...byOrder(check.order));
    });
  }

  function accept(order: CheckRequest, at: number): Check {
    const number = state.all.length;
    const atOnce = isExecutedAtOnce(checkBehaviour(order));
    const outcome = atOnce ? [checked(number, ...byOrder(order), at)] : [];
    journal.commit([{ kind: 'check_ordered', check: number, order, at }, ...outcome]);
    const check = state.get(number);
    schedule(check);
    return check;
  }

  return { accept, end, schedule };
}

const noSuchCheck = () =>
  errorAnswer(404, 'check_not_found', 'there is no check with this reference');
