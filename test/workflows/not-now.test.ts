import type { ResendSafety } from '../../src/core/providers/transfer-provider.js';
import type { ProviderCallResult } from '../../src/core/instructions/workflow-contract.js';
import { transferContract } from '../../src/capabilities/transfers/workflow-contract.js';
import {
  initialProgress,
  nextStep,
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

describe('the next step after an answer that is not about the whole instruction', () => {
  test('a submission that the provider puts off waits for a minute at most, and for no longer than it asks if that is more', () => {
    const later = (afterMs: number): ProviderCallResult => ({
      kind: 'rejected_temporarily',
      code: 'float',
      afterMs,
      ...sent(0),
    });
    const first = walk([[later(1_000), 0]]);
    expect(first.step).toEqual({ do: 'submit', afterMs: 1_000, suppressTimeline: true });
    const tenth = walk(Array.from({ length: 10 }, (_, i) => [later(1_000), i]));
    expect(tenth.step).toMatchObject({ do: 'submit', afterMs: 60_000 });
    expect(walk([[later(90_000), 0]]).step).toMatchObject({ do: 'submit', afterMs: 90_000 });
  });

  describe('a refusal of one request while the provider may have another', () => {
    const refused = (resendSafety: ResendSafety): ProviderCallResult => ({
      kind: 'refused',
      code: 'account_closed',
      resendSafety,
      submissions: 2,
      possibleSubmissions: 1,
    });
    const absent = (resendSafety: ResendSafety): ProviderCallResult =>
      ({
        ...notFound(resendSafety, 2),
        possibleSubmissions: 1,
      }) as ProviderCallResult;

    test.each([
      ['conclusive_after', conclusiveAfter, 5_000],
      ['idempotent', deduplicates, 60_000],
    ] as const)('%s: releases only after proven absence', (_kind, safety, ms) => {
      expect(walk([[refused(safety), 0]]).step.do).toBe('verify');
      const early = walk([
        [refused(safety), 0],
        [absent(safety), 1],
        [absent(safety), ms],
      ]);
      expect(early.step.do).toBe('verify');
      const proven = walk([
        [refused(safety), 0],
        [absent(safety), 1],
        [absent(safety), ms + 1],
      ]);
      expect(proven.step).toMatchObject({
        do: 'applyOutcome',
        fact: { kind: 'rejected', code: 'account_closed' },
      });
    });

    test.each([never, { kind: 'fence' } as const])('%p: never by "not found" alone', (safety) => {
      const { step } = walk([
        [refused(safety), 0],
        [absent(safety), 1],
        [absent(safety), 1e9],
      ]);
      expect(step.do).toBe('verify');
    });
  });

  test('an idempotent provider gets a repeat only after its pause', () => {
    const paused: ResendSafety = { kind: 'idempotent', forMs: null, pauseMs: 60_000 };
    const early = walk([
      [silent, 0],
      [notFound(paused), 1],
      [notFound(paused), 60_000],
    ]);
    expect(early.step.do).toBe('verify');
    const later = walk([
      [silent, 0],
      [notFound(paused), 1],
      [notFound(paused), 60_001],
    ]);
    expect(later.step.do).toBe('submit');
  });

  test('a provider with a fence gets no repeat, and calls no operator: the next poll cancels', () => {
    const { step } = walk([
      [silent, 0],
      [notFound({ kind: 'fence' }), 1],
    ]);
    expect(step).toMatchObject({ do: 'verify', stuck: null });
  });
});
