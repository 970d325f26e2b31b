import type { CallReport, FactReport, TransferPolicy } from '../src/transfers/reports.js';
import { FIRST_POLL_MS, MAX_ERRORS, MAX_SENDS } from './policies.js';

/** What a run knows beyond the record: how to pace itself and how far absence is proven. */
export type Pursuit = {
  sends: number;
  /** Sends that the provider explicitly did not take: they do not count against the bound. */
  notTaken: number;
  pollMs: number;
  errors: number;
  /** Time of the first "not found" after the last send, if nothing else was heard since. */
  absentSinceMs: number | null;
};

/** What to do next. A wait ends early when somebody wakes the workflow. */
export type Step =
  | { do: 'settle'; fact: FactReport }
  | { do: 'send'; afterMs: number }
  | { do: 'ask'; afterMs: number; stuck: string | null }
  | { do: 'end' };

export const newPursuit = (): Pursuit => ({
  sends: 0,
  notTaken: 0,
  pollMs: FIRST_POLL_MS,
  errors: 0,
  absentSinceMs: null,
});

/** An operator pushes: ask at once and often again, and one order more than the bound allows. */
export const oneMoreTry = (pursuit: Pursuit): Pursuit => ({
  ...pursuit,
  notTaken: pursuit.notTaken + 1,
  pollMs: FIRST_POLL_MS,
  errors: 0,
});

/** All that is decided about an answer, in one place and without Temporal: given what is known, what comes next? */
export function nextStep(
  pursuit: Pursuit,
  report: CallReport,
  policy: TransferPolicy,
  nowMs: number,
): [Pursuit, Step] {
  const known = 'sends' in report && report.sends !== undefined ? { sends: report.sends } : {};
  const heard = { ...pursuit, ...known, errors: 0, absentSinceMs: null };
  switch (report.kind) {
    case 'closed':
      if (report.attention === null) return [heard, { do: 'end' }];
      // What an operator has to see keeps its workflow, so that it is found in the UI.
      return [heard, { do: 'ask', afterMs: policy.pollMaxMs, stuck: report.attention }];
    case 'paid':
    case 'refused':
    case 'reversed':
    case 'confirmed':
      return [heard, { do: 'settle', fact: report }];
    case 'unsent':
      return [heard, { do: 'send', afterMs: 0 }];
    case 'throttled': {
      const pollMs = Math.min(pursuit.pollMs, policy.pollMaxMs);
      const afterMs = Math.max(report.retryAfterMs, pollMs);
      const waiting = { ...heard, notTaken: pursuit.notTaken + 1, pollMs: pollMs * 2 };
      return [waiting, { do: 'send', afterMs }];
    }
    case 'not_permitted':
      return [heard, { do: 'ask', afterMs: 0, stuck: null }];
    case 'pending':
      return askLater(heard, policy, null);
    case 'unknown': {
      const errors = pursuit.errors + 1;
      const counts = report.reason === 'server_error' || report.reason === 'unreadable';
      const stuck = counts && errors >= MAX_ERRORS ? 'the bank answers with errors' : null;
      return askLater({ ...heard, errors }, policy, stuck);
    }
    case 'not_found':
      return notFound({ ...pursuit, ...known, errors: 0 }, policy, nowMs);
  }
}

function askLater(pursuit: Pursuit, policy: TransferPolicy, stuck: string | null): [Pursuit, Step] {
  const afterMs = Math.min(pursuit.pollMs, policy.pollMaxMs);
  return [
    { ...pursuit, pollMs: afterMs * 2 },
    { do: 'ask', afterMs, stuck },
  ];
}

/** "Not found" lets the order out again only where, and as far as, this provider's word proves absence. */
function notFound(pursuit: Pursuit, policy: TransferPolicy, nowMs: number): [Pursuit, Step] {
  const { absence } = policy;
  if (absence.kind === 'never') {
    return askLater(pursuit, policy, 'the bank does not know the payment and cannot rule it out');
  }
  if (absence.kind === 'final_after') {
    const since = pursuit.absentSinceMs ?? nowMs;
    const leftMs = since + absence.ms - nowMs;
    if (pursuit.absentSinceMs === null || leftMs > 0) {
      const afterMs = Math.max(leftMs, 1);
      return [
        { ...pursuit, absentSinceMs: since },
        { do: 'ask', afterMs, stuck: null },
      ];
    }
  }
  if (pursuit.sends - pursuit.notTaken >= MAX_SENDS) {
    return askLater(
      pursuit,
      policy,
      'the bank never answers the order and does not know the payment',
    );
  }
  return [
    { ...pursuit, absentSinceMs: null },
    { do: 'send', afterMs: 0 },
  ];
}
