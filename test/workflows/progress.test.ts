import fc from 'fast-check';
import type { ResendSafety } from '../../src/core/providers/transfer-provider.js';
import type { ProviderCallResult } from '../../src/core/instructions/workflow-contract.js';
import { transferContract } from '../../src/capabilities/transfers/workflow-contract.js';
import {
  initialProgress,
  nextStep,
  allowOperatorRetry,
  type ExecutionProgress,
  type ExecutionRules,
  type Step,
} from '../../workflows/instruction/progress.js';

const rules: ExecutionRules = {
  policy: { attentionAfterMs: 86_400_000, pollMaxMs: 600_000, maxSubmissions: 4, maxErrors: 12 },
  labels: transferContract.labels,
};
const conclusiveAfter: ResendSafety = { kind: 'conclusive_after', ms: 5_000 };
const deduplicates: ResendSafety = { kind: 'idempotent', forMs: null };
const never: ResendSafety = { kind: 'never' };

const sent = (submissions = 1) => ({ submissions, possibleSubmissions: submissions });
const silent: ProviderCallResult = { kind: 'unknown', reason: 'timeout', ...sent() };
const notFound = (resendSafety: ResendSafety, submissions = 1): ProviderCallResult => ({
  kind: 'not_found',
  resendSafety,
  ...sent(submissions),
});

/** Feeds results at given times; returns the last step and the progress. A call takes no time. */
function walk(
  reports: [ProviderCallResult, number][],
  start: ExecutionProgress = initialProgress(),
) {
  let progress = start;
  let step: Step = { do: 'submit', afterMs: 0 };
  for (const [report, at] of reports) {
    [progress, step] = nextStep(progress, report, rules, { askedMs: at, answeredMs: at });
  }
  return { progress, step };
}

describe('the next step of an instruction', () => {
  test('an unknown outcome is followed by a verification and never by another submission', () => {
    for (const reason of [
      'timeout',
      'connection',
      'server_error',
      'unreadable',
      'too_old',
    ] as const) {
      expect(walk([[{ kind: 'unknown', reason, ...sent() }, 0]]).step.do).toBe('verify');
    }
  });

  test('at a provider that is not idempotent one "not found" allows no submission; two of them far enough apart do', () => {
    const absent = notFound(conclusiveAfter);
    expect(
      walk([
        [silent, 0],
        [absent, 1_000],
      ]).step,
    ).toMatchObject({ do: 'verify', afterMs: 5_000 });
    const early = walk([
      [silent, 0],
      [absent, 1_000],
      [absent, 5_999],
    ]);
    expect(early.step).toMatchObject({ do: 'verify', afterMs: 1 });
    const proven = walk([
      [silent, 0],
      [absent, 1_000],
      [absent, 6_000],
    ]);
    expect(proven.step).toEqual({ do: 'submit', afterMs: 0 });
  });

  test('the time between two "not found" counts from the first answer to the second call, not to its slow answer', () => {
    const { progress } = walk([[notFound(conclusiveAfter), 1_000]]);
    const slow = { askedMs: 1_100, answeredMs: 6_300 };
    const [, step] = nextStep(progress, notFound(conclusiveAfter), rules, slow);
    expect(step.do).toBe('verify');
  });

  test('any other answer between two "not found" discards the first one', () => {
    const others: ProviderCallResult[] = [silent, { kind: 'permit_denied', attention: null }];
    for (const between of others) {
      const absent = notFound(conclusiveAfter);
      const { step } = walk([
        [absent, 0],
        [between, 3_000],
        [absent, 10_000],
      ]);
      expect(step).toMatchObject({ do: 'verify', afterMs: 5_000 });
    }
  });

  test('a proof of absence allows one submission', () => {
    const absent = notFound(conclusiveAfter);
    const { step } = walk([
      [absent, 0],
      [absent, 5_000],
      [silent, 6_000],
      [notFound(conclusiveAfter, 2), 20_000],
    ]);
    expect(step.do).toBe('verify');
  });

  test('a submission by another run between two "not found" discards the first one', () => {
    const { step, progress } = walk([
      [notFound(conclusiveAfter, 1), 0],
      [notFound(conclusiveAfter, 2), 6_000],
    ]);
    expect(step).toMatchObject({ do: 'verify', afterMs: 5_000 });
    expect(walk([[notFound(conclusiveAfter, 2), 11_000]], progress).step).toEqual({
      do: 'submit',
      afterMs: 0,
    });
  });

  test('at an idempotent provider "not found" allows another submission', () => {
    expect(
      walk([
        [silent, 0],
        [notFound(deduplicates), 1_000],
      ]).step,
    ).toEqual({ do: 'submit', afterMs: 0 });
  });

  test('if nothing proves absence, attention is raised and nothing is submitted', () => {
    const { step } = walk([
      [silent, 0],
      [notFound(never), 1_000],
    ]);
    expect(step).toMatchObject({
      do: 'verify',
      stuck: expect.stringMatching(/cannot rule it out/),
    });
  });

  test('submissions are bounded: then attention is raised, polling goes on, and a retry allows one more', () => {
    const bound = walk([[notFound(deduplicates, rules.policy.maxSubmissions + 3), 0]]);
    expect(bound.step).toMatchObject({ do: 'verify', stuck: expect.any(String) });
    const pushed = walk(
      [[notFound(deduplicates, rules.policy.maxSubmissions + 3), 1]],
      allowOperatorRetry(bound.progress, rules.policy),
    );
    expect(pushed.step.do).toBe('submit');
    expect(
      walk([[notFound(deduplicates, rules.policy.maxSubmissions + 4), 2]], pushed.progress).step.do,
    ).toBe('verify');
  });

  test('repeated errors of a bank raise attention; an unreachable bank does not', () => {
    const errors = (reason: 'server_error' | 'connection') =>
      walk(
        Array.from(
          { length: rules.policy.maxErrors },
          (_, i) => [{ kind: 'unknown', reason, ...sent() }, i] as [ProviderCallResult, number],
        ),
      ).step;
    expect(errors('server_error')).toMatchObject({ stuck: expect.any(String) });
    expect(errors('connection')).toMatchObject({ stuck: null });
  });

  test('the pause between polls doubles from a second up to the longest pause', () => {
    let progress = initialProgress();
    const pauses = Array.from({ length: 14 }, () => {
      const [next, step] = nextStep(progress, { kind: 'pending' }, rules, {
        askedMs: 0,
        answeredMs: 0,
      });
      progress = next;
      return step.do === 'verify' ? step.afterMs : NaN;
    });
    expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(pauses.slice(-2)).toEqual([600_000, 600_000]);
  });

  test('throttling doubles the pause, uses up no submission, and is on the timeline once', () => {
    const report = (submissions: number): ProviderCallResult => ({
      kind: 'throttled',
      retryAfterMs: 1_500,
      submissions,
      possibleSubmissions: 0,
    });
    expect(walk([[report(1), 0]]).step).toEqual({
      do: 'submit',
      afterMs: 1_500,
      suppressTimeline: true,
    });
    const later = walk(Array.from({ length: 8 }, (_, i) => [report(i + 1), i]));
    expect(later.step).toMatchObject({ do: 'submit', afterMs: 128_000 });
    const absent: ProviderCallResult = {
      ...notFound(deduplicates, 9),
      possibleSubmissions: 1,
    } as ProviderCallResult;
    expect(walk([[absent, 0]], later.progress).step.do).toBe('submit');
  });

  test('a closed record with attention keeps its workflow; one without attention ends it', () => {
    expect(walk([[{ kind: 'closed', attention: null }, 0]]).step).toEqual({ do: 'end' });
    const attention = walk([[{ kind: 'closed', attention: 'in suspense' }, 0]]);
    expect(attention.step).toMatchObject({ do: 'verify', stuck: 'in suspense', closed: true });
  });

  test('a monitored record is polled at growing intervals and raises no attention', () => {
    const given = walk(
      Array.from({ length: 3 }, (_, i) => [{ kind: 'pending', monitored: true }, i]),
    );
    expect(given.step).toEqual({ do: 'verify', afterMs: 4_000, stuck: null, closed: true });
  });

  test('for any sequence of results: a submission follows only if nothing was submitted, it was rejected temporarily, or absence is proven', () => {
    const report: fc.Arbitrary<ProviderCallResult> = fc.oneof(
      fc.constant(silent),
      fc.constant<ProviderCallResult>({ kind: 'pending' }),
      fc.integer({ min: 1, max: 2 }).map((submissions) => notFound(conclusiveAfter, submissions)),
      fc.constant<ProviderCallResult>({ kind: 'permit_denied', attention: null }),
      fc.constant<ProviderCallResult>({
        kind: 'not_submitted',
        submissions: 0,
        possibleSubmissions: 0,
      }),
      fc.constant<ProviderCallResult>({
        kind: 'throttled',
        retryAfterMs: 10,
        submissions: 1,
        possibleSubmissions: 0,
      }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(report, fc.integer({ min: 0, max: 8_000 })), {
          maxLength: 40,
          size: 'max',
        }),
        (results) => {
          let progress = initialProgress();
          let now = 0;
          let absentSince: number | null = null;
          for (const [one, gap] of results) {
            now += gap;
            const [next, step] = nextStep(progress, one, rules, { askedMs: now, answeredMs: now });
            // Submissions of other runs count: a "not found" from before them proves nothing.
            if (one.kind === 'not_found' && one.submissions !== progress.submissions)
              absentSince = null;
            const proven =
              one.kind === 'not_found' && absentSince !== null && now - absentSince >= 5_000;
            const allowed = one.kind === 'not_submitted' || one.kind === 'throttled' || proven;
            expect(step.do !== 'submit' || allowed).toBe(true);
            absentSince =
              one.kind === 'not_found' && step.do !== 'submit' ? (absentSince ?? now) : null;
            progress = next;
          }
        },
      ),
    );
  });

  describe('a submission that may be a repeat', () => {
    /** Reports of the provider. Our own record adds `not_submitted`, which begins another attempt. */
    const reports = (resendSafety: ResendSafety): fc.Arbitrary<ProviderCallResult> =>
      fc.oneof(
        fc.constantFrom<ProviderCallResult>(
          silent,
          { kind: 'pending' },
          { kind: 'pending', idle: true, untilMs: 10 },
          { kind: 'permit_denied', attention: null },
          { kind: 'mismatch', attention: 'another currency' },
          { kind: 'unknown', reason: 'too_old', ...sent() },
          { ...source, kind: 'succeeded', amountMinor: 1, sessionId: null },
          { ...source, kind: 'reversed', amountMinor: null, sessionId: null },
          { kind: 'closed', attention: null },
        ),
        fc
          .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }), fc.boolean())
          .map(([submissions, rejected, acknowledged]) => ({
            submissions,
            possibleSubmissions: Math.max(0, submissions - rejected),
            firstSubmittedAtMs: 0,
            ...(acknowledged && { acknowledged: true as const }),
          }))
          .chain((counts) =>
            fc.constantFrom<ProviderCallResult>(
              { kind: 'not_found', resendSafety, ...counts },
              { kind: 'throttled', retryAfterMs: 1_000, resendSafety, ...counts },
              { kind: 'rejected_temporarily', code: 'not_now', resendSafety, ...counts },
              { kind: 'unsent', resendSafety, ...counts },
            ),
          ),
      );
    const source = { providerRequestId: null, via: 'poll' } as const;
    const timeline = (resendSafety: ResendSafety) =>
      fc.array(fc.tuple(reports(resendSafety), fc.integer({ min: 0, max: 20_000 }), fc.boolean()), {
        maxLength: 40,
        size: 'max',
      });
    const arrived = (report: ProviderCallResult) =>
      ['pending', 'mismatch', 'succeeded', 'reversed'].includes(report.kind) ||
      ('acknowledged' in report && report.acknowledged);

    test('after a report that proves arrival no sequence of reports and retries leads to it, unless the provider is idempotent', () => {
      for (const resendSafety of [conclusiveAfter, never]) {
        fc.assert(
          fc.property(timeline(resendSafety), (results) => {
            let progress = initialProgress();
            let now = 0;
            let known = false;
            for (const [report, gap, retried] of results) {
              now += gap;
              if (retried) progress = allowOperatorRetry(progress, rules.policy);
              const times = { askedMs: now, answeredMs: now };
              const [next, step] = nextStep(progress, report, rules, times);
              known ||= arrived(report);
              if (known) expect(step.do).not.toBe('submit');
              progress = next;
            }
          }),
        );
      }
    });

    test('a lost acknowledgement calls an operator, and polling goes on', () => {
      const { step } = walk([
        [{ kind: 'pending' }, 0],
        [notFound(conclusiveAfter), 1_000],
        [notFound(conclusiveAfter), 7_000],
      ]);
      expect(step).toMatchObject({
        do: 'verify',
        stuck: expect.stringMatching(/had acknowledged/),
      });
      const idempotent = walk([
        [{ kind: 'pending' }, 0],
        [notFound(deduplicates), 1_000],
      ]);
      expect(idempotent.step.do).toBe('submit');
    });

    test('at an idempotent provider it is never later than the stated time after the first submission', () => {
      const forMs = 60_000;
      fc.assert(
        fc.property(timeline({ kind: 'idempotent', forMs }), (results) => {
          let progress = initialProgress();
          let now = 0;
          for (const [report, gap, retried] of results) {
            now += gap;
            if (retried) progress = allowOperatorRetry(progress, rules.policy);
            const times = { askedMs: now, answeredMs: now };
            const [next, step] = nextStep(progress, report, rules, times);
            // If the provider has explicitly rejected every submission, the next one repeats nothing.
            if (now >= forMs && next.possibleSubmissions > 0) expect(step.do).not.toBe('submit');
            progress = next;
          }
        }),
      );
    });

    test('after the stated time "not found" calls an operator; before it the submission is repeated', () => {
      const safety: ResendSafety = { kind: 'idempotent', forMs: 60_000 };
      const absent = { ...notFound(safety), firstSubmittedAtMs: 1_000 } as ProviderCallResult;
      expect(walk([[absent, 60_999]]).step.do).toBe('submit');
      expect(walk([[absent, 61_000]]).step).toMatchObject({
        do: 'verify',
        stuck: expect.stringMatching(/would not recognize a repeat/),
      });
    });
  });

  describe('the next step of a repeatable instruction', () => {
    const repeatable: ExecutionRules = { ...rules, repeatable: true };
    const next = (report: ProviderCallResult, progress = initialProgress()) =>
      nextStep(progress, report, repeatable, { askedMs: 0, answeredMs: 0 });

    test('is another submission after every "not found", without a bound', () => {
      for (const absence of [never, conclusiveAfter, deduplicates]) {
        const [, step] = next(notFound(absence, 10 * rules.policy.maxSubmissions));
        expect(step).toEqual({ do: 'submit', afterMs: 0 });
      }
    });

    test('is a verification after an unknown outcome, with a growing pause', () => {
      let progress = initialProgress();
      const pauses = [1, 2, 3].map((submissions) => {
        const [silentNow, step] = next({ ...silent, ...sent(submissions) }, progress);
        [progress] = next(notFound(deduplicates, submissions), silentNow);
        return step.do === 'verify' && step.afterMs;
      });
      expect(pauses).toEqual([1_000, 2_000, 4_000]);
    });
  });

  test('a temporary rejection doubles the pause up to the longest one, and is on the timeline once', () => {
    let progress = initialProgress();
    const pauses = Array.from({ length: 12 }, (_, i) => {
      const report = {
        kind: 'rejected_temporarily',
        code: 'not_now',
        submissions: i + 1,
        possibleSubmissions: 0,
      } as const;
      const [after, step] = nextStep(progress, report, rules, { askedMs: 0, answeredMs: 0 });
      progress = after;
      expect(step).toMatchObject({ do: 'submit', suppressTimeline: true });
      return step.do === 'submit' ? step.afterMs : NaN;
    });
    expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(pauses.at(-1)).toBe(600_000);
  });
});
