import type { ResendSafety } from '../../src/core/providers/transfer-provider.js';
import type { ProviderCallResult } from '../../src/core/instructions/workflow-contract.js';
import { transferContract } from '../../src/capabilities/transfers/workflow-contract.js';
import {
  allowOperatorRetry,
  initialProgress,
  nextStep,
  type ExecutionProgress,
  type ExecutionRules,
} from '../../workflows/instruction/progress.js';

const rules: ExecutionRules = {
  policy: { attentionAfterMs: 86_400_000, pollMaxMs: 600_000, maxSubmissions: 4, maxErrors: 12 },
  labels: transferContract.labels,
};
const conclusiveAfter: ResendSafety = { kind: 'conclusive_after', ms: 5_000 };
const deduplicates: ResendSafety = { kind: 'idempotent', forMs: null };
const never: ResendSafety = { kind: 'never' };

const notFound = (resendSafety: ResendSafety, submissions = 1): ProviderCallResult => ({
  kind: 'not_found',
  resendSafety,
  submissions,
  possibleSubmissions: submissions,
});

/** The step after one result. A call takes no time. */
function after(result: ProviderCallResult, given: ExecutionProgress = initialProgress()) {
  const [progress, step] = nextStep(given, result, rules, { askedMs: 1, answeredMs: 1 });
  return { progress, step };
}

const attested = (progress: ExecutionProgress) => ({
  ...allowOperatorRetry(progress, rules.policy),
  absenceAttested: true,
});

test('an attested absence permits exactly one further submission at a provider whose "not found" proves nothing', () => {
  const { progress, step } = after(notFound(never));
  expect(step.do).toBe('verify');
  const once = after(notFound(never), attested(progress));
  expect(once.step).toEqual({ do: 'submit', afterMs: 0 });
  const later = { ...once.progress, absenceAttested: false };
  expect(after(notFound(never, 2), later).step.do).toBe('verify');
});

test('an attested absence permits nothing unless the provider answers that it does not know the payment, and never had it', () => {
  const { progress } = after(notFound(never));
  const results: ProviderCallResult[] = [
    { kind: 'unknown', reason: 'timeout' },
    { kind: 'pending' },
    { ...notFound(never), acknowledged: true } as ProviderCallResult,
  ];
  for (const result of results) {
    expect(after(result, attested(progress)).step.do).toBe('verify');
  }
});

test('a permit that was returned is no submission: the next one follows after a pause, at every provider', () => {
  for (const resendSafety of [never, conclusiveAfter, deduplicates]) {
    const counts = { submissions: 1, possibleSubmissions: 0 };
    const unsent: ProviderCallResult = { kind: 'unsent', resendSafety, ...counts };
    expect(after(unsent).step).toEqual({ do: 'submit', afterMs: 1_000 });
    const absent: ProviderCallResult = { kind: 'not_found', resendSafety, ...counts };
    expect(after(absent).step).toEqual({ do: 'submit', afterMs: 0 });
  }
});
