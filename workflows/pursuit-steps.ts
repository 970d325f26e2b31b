import type { Absence } from '../src/providers/provider.js';
import type { CallReport, FactReport, PursuitPolicy, Sends } from '../src/pursuits/reports.js';
import type { Words } from '../src/pursuits/words.js';
import { FIRST_POLL_MS, IDLE_POLL_MS, MAX_ERRORS, MAX_SENDS } from './policies.js';

/** What a run knows beyond the record: how to pace itself and how far absence is proven. */
export type Pursuit = {
  sends: number;
  /** Sends that the provider may have taken. */
  tries: number;
  /** Tries that operators have granted beyond the bound. */
  granted: number;
  pollMs: number;
  errors: number;
  /** When the first "not found" after the last send, whoever sent it, was heard, if nothing else was heard since. */
  absentSinceMs: number | null;
};

/** When a question left us and when its answer came. */
export type Asked = { askedMs: number; heardMs: number };

/** What the steps of a pursuit depend on beside what is heard. */
export type Rules = {
  policy: PursuitPolicy;
  words: Words;
  /** However often the order arrives, it is done once: it may go out again as soon as it is known not to be done. */
  repeatable?: boolean;
};

/** What to do next. A wait ends early when somebody wakes the workflow. */
export type Step<Own = never> =
  | { do: 'settle'; fact: FactReport<Own> }
  /** `quietly`: the last one was explicitly not taken; the timeline has that already. */
  | { do: 'send'; afterMs: number; quietly?: boolean }
  /** `stuck`: why an operator has to be called. `closed`: the record has ended, and is looked after. */
  | { do: 'ask'; afterMs: number; stuck: string | null; closed?: boolean }
  | { do: 'end' };

export const newPursuit = (): Pursuit => ({
  sends: 0,
  tries: 0,
  granted: 0,
  pollMs: FIRST_POLL_MS,
  errors: 0,
  absentSinceMs: null,
});

/** An operator pushes: ask at once and often again, and one order more than the bound allows. */
export const oneMoreTry = (pursuit: Pursuit): Pursuit => ({
  ...pursuit,
  granted: Math.max(pursuit.granted, pursuit.tries - MAX_SENDS) + 1,
  pollMs: FIRST_POLL_MS,
  errors: 0,
});

/** All that is decided about an answer, in one place and without Temporal: given what is known, what comes next? */
export function nextStep(
  pursuit: Pursuit,
  report: CallReport,
  rules: Rules,
  asked: Asked,
): [Pursuit, Step] {
  const { policy, words } = rules;
  const known = knownSends(report);
  const heard = { ...pursuit, ...known, errors: 0, absentSinceMs: null };
  switch (report.kind) {
    case 'closed':
      if (report.attention === null) return [heard, { do: 'end' }];
      // What an operator has to see keeps its workflow, so that it is found in the UI.
      return [
        heard,
        { do: 'ask', afterMs: policy.pollMaxMs, stuck: report.attention, closed: true },
      ];
    case 'paid':
    case 'refused':
    case 'reversed':
    case 'confirmed':
      return [heard, { do: 'settle', fact: report }];
    case 'unsent':
      return [heard, { do: 'send', afterMs: report.afterMs ?? 0 }];
    case 'throttled':
    case 'refused_for_now': {
      const pollMs = Math.min(pursuit.pollMs, policy.pollMaxMs);
      const afterMs = Math.max(report.kind === 'throttled' ? report.retryAfterMs : 0, pollMs);
      return [
        { ...heard, pollMs: pollMs * 2 },
        { do: 'send', afterMs, quietly: true },
      ];
    }
    case 'not_permitted':
      return [heard, { do: 'ask', afterMs: 0, stuck: null }];
    case 'pending': {
      if (report.watched) {
        const [later, step] = askLater(heard, policy, null);
        return [later, { ...step, closed: true }];
      }
      const pollMs = report.idle ? Math.max(heard.pollMs, IDLE_POLL_MS) : heard.pollMs;
      return askLater({ ...heard, pollMs }, policy, null, report.untilMs);
    }
    case 'disputed':
      return [heard, { do: 'ask', afterMs: policy.pollMaxMs, stuck: report.attention }];
    case 'unknown': {
      const errors = pursuit.errors + 1;
      const counts = report.reason === 'server_error' || report.reason === 'unreadable';
      const failing = counts && errors >= MAX_ERRORS;
      const stuck = failing ? `the ${words.provider} answers with errors` : null;
      return askLater({ ...heard, errors }, policy, stuck);
    }
    case 'not_found':
      return rules.repeatable
        ? [heard, { do: 'send', afterMs: 0 }]
        : notFound(
            { ...absentSoFar(pursuit, report), ...known, errors: 0 },
            report.absence,
            rules,
            asked,
          );
  }
}

function askLater(
  pursuit: Pursuit,
  policy: PursuitPolicy,
  stuck: string | null,
  untilMs = Infinity,
): [Pursuit, Extract<Step, { do: 'ask' }>] {
  const afterMs = Math.min(pursuit.pollMs, policy.pollMaxMs);
  return [
    { ...pursuit, pollMs: afterMs * 2 },
    { do: 'ask', afterMs: Math.min(afterMs, untilMs), stuck },
  ];
}

/** What was not found before somebody else sent it says nothing about that order: it may be on its way still. */
const absentSoFar = (pursuit: Pursuit, { sends }: Sends): Pursuit =>
  sends === pursuit.sends ? pursuit : { ...pursuit, absentSinceMs: null };

/** "Not found" lets the order out again only where, and as far as, this provider's word proves absence. */
function notFound(
  pursuit: Pursuit,
  absence: Absence,
  { policy, words: { provider, payment } }: Rules,
  { askedMs, heardMs }: Asked,
): [Pursuit, Step] {
  if (absence.kind === 'never') {
    const stuck = `the ${provider} does not know the ${payment} and cannot rule it out`;
    return askLater(pursuit, policy, stuck);
  }
  if (absence.kind === 'final_after') {
    // From the first answer to the second question: what happens while an answer travels proves nothing.
    const sinceMs = pursuit.absentSinceMs ?? heardMs;
    if (pursuit.absentSinceMs === null || askedMs - sinceMs < absence.ms) {
      const afterMs = Math.max(sinceMs + absence.ms - heardMs, 1);
      return [
        { ...pursuit, absentSinceMs: sinceMs },
        { do: 'ask', afterMs, stuck: null },
      ];
    }
  }
  if (pursuit.tries - pursuit.granted >= MAX_SENDS) {
    const stuck = `the ${provider} never answers the order and does not know the ${payment}`;
    return askLater(pursuit, policy, stuck);
  }
  return [
    { ...pursuit, absentSinceMs: null },
    { do: 'send', afterMs: 0 },
  ];
}

function knownSends(report: CallReport): Partial<Pick<Pursuit, 'sends' | 'tries'>> {
  if (!('sends' in report) || report.sends === undefined || report.tries === undefined) return {};
  return { sends: report.sends, tries: report.tries };
}
