import fc from 'fast-check';
import type { CallReport, TransferPolicy } from '../../src/transfers/reports.js';
import { MAX_ERRORS, MAX_SENDS } from '../../workflows/policies.js';
import { newPursuit, nextStep, type Pursuit, type Step } from '../../workflows/transfer-steps.js';

const policy = (absence: TransferPolicy['absence']): TransferPolicy => ({
  attentionAfterMs: 86_400_000,
  pollMaxMs: 600_000,
  absence,
});
const finalAfter = policy({ kind: 'final_after', ms: 5_000 });
const deduplicates = policy({ kind: 'deduplicates' });

const silent: CallReport = { kind: 'unknown', reason: 'timeout', sends: 1 };
const notFound = (sends = 1): CallReport => ({ kind: 'not_found', sends });

/** Feeds reports at given times; answers the last step and the state. */
function walk(p: TransferPolicy, reports: [CallReport, number][], start: Pursuit = newPursuit()) {
  let pursuit = start;
  let step: Step = { do: 'send', afterMs: 0 };
  for (const [report, at] of reports) [pursuit, step] = nextStep(pursuit, report, p, at);
  return { pursuit, step };
}

describe('what comes next for a transfer', () => {
  test('silence after the order is never followed by another order, but by a question', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('timeout', 'connection', 'server_error', 'unreadable', 'activity_failed'),
        fc.constantFrom(deduplicates, finalAfter, policy({ kind: 'never' })),
        (reason, p) => {
          const { step } = walk(p, [
            [{ kind: 'unknown', reason: reason as 'timeout', sends: 1 }, 0],
          ]);
          expect(step.do).toBe('ask');
        },
      ),
    );
  });

  test('without de-duplication one "not found" sends nothing; two that far apart do', () => {
    expect(
      walk(finalAfter, [
        [silent, 0],
        [notFound(), 1_000],
      ]).step,
    ).toMatchObject({ do: 'ask', afterMs: 5_000 });
    expect(
      walk(finalAfter, [
        [silent, 0],
        [notFound(), 1_000],
        [notFound(), 5_999],
      ]).step,
    ).toMatchObject({ do: 'ask', afterMs: 1 });
    expect(
      walk(finalAfter, [
        [silent, 0],
        [notFound(), 1_000],
        [notFound(), 6_000],
      ]).step,
    ).toEqual({ do: 'send', afterMs: 0 });
  });

  test('anything else heard between two "not found" starts the proof of absence again', () => {
    for (const between of [
      silent,
      { kind: 'pending' } as const,
      { kind: 'not_permitted', attention: null } as const,
    ]) {
      const { step } = walk(finalAfter, [
        [notFound(), 0],
        [between, 3_000],
        [notFound(), 10_000],
      ]);
      expect(step).toMatchObject({ do: 'ask', afterMs: 5_000 });
    }
  });

  test('a proof of absence is used up by the order that it allowed', () => {
    const { step } = walk(finalAfter, [
      [notFound(), 0],
      [notFound(), 5_000],
      [silent, 6_000],
      [notFound(2), 20_000],
    ]);
    expect(step.do).toBe('ask');
  });

  test('with de-duplication "not found" allows the same order again', () => {
    expect(
      walk(deduplicates, [
        [silent, 0],
        [notFound(), 1_000],
      ]).step,
    ).toEqual({ do: 'send', afterMs: 0 });
  });

  test('where nothing proves absence, an operator is called and nothing is sent', () => {
    const { step } = walk(policy({ kind: 'never' }), [
      [silent, 0],
      [notFound(), 1_000],
    ]);
    expect(step).toMatchObject({ do: 'ask', stuck: expect.stringMatching(/cannot rule it out/) });
  });

  test('orders are bounded: after the last one an operator is called, and asking goes on', () => {
    const { step } = walk(deduplicates, [[notFound(MAX_SENDS), 0]]);
    expect(step).toMatchObject({ do: 'ask', stuck: expect.any(String) });
  });

  test('a bank that answers with errors again and again is a reason to call an operator; one that is away is not', () => {
    const errors = (reason: 'server_error' | 'connection') =>
      walk(
        deduplicates,
        Array.from(
          { length: MAX_ERRORS },
          (_, i) => [{ kind: 'unknown', reason }, i] as [CallReport, number],
        ),
      ).step;
    expect(errors('server_error')).toMatchObject({ stuck: expect.any(String) });
    expect(errors('connection')).toMatchObject({ stuck: null });
  });

  test('polls back off from a second to the longest pause and stay there', () => {
    let pursuit = newPursuit();
    const pauses = Array.from({ length: 14 }, () => {
      const [next, step] = nextStep(pursuit, { kind: 'pending' }, finalAfter, 0);
      pursuit = next;
      return step.do === 'ask' ? step.afterMs : NaN;
    });
    expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(pauses.slice(-2)).toEqual([600_000, 600_000]);
  });

  test('an explicit "not now" is waited out and sent again; it was not taken', () => {
    const report: CallReport = { kind: 'throttled', retryAfterMs: 1_500, sends: 1 };
    const { pursuit, step } = walk(finalAfter, [[report, 0]]);
    expect(step).toEqual({ do: 'send', afterMs: 1_500 });
    expect(pursuit.sends).toBe(1);
    const often = Array.from({ length: 8 }, (_, i): [CallReport, number] => [
      { ...report, sends: i + 1 },
      i,
    ]);
    const later = walk(finalAfter, often);
    expect(later.step).toEqual({ do: 'send', afterMs: 128_000 });
    // Being told "not now" uses up no try: absence is still worth an order.
    expect(walk(deduplicates, [[notFound(9), 0]], later.pursuit).step.do).toBe('send');
  });

  test('whatever is reported in whatever order: an order leaves only when unsent, refused for now, or proven absent', () => {
    const report: fc.Arbitrary<CallReport> = fc.oneof(
      fc.constant(silent),
      fc.constant<CallReport>({ kind: 'pending' }),
      fc.constant(notFound()),
      fc.constant<CallReport>({ kind: 'not_permitted', attention: null }),
      fc.constant<CallReport>({ kind: 'unsent', sends: 0 }),
      fc.constant<CallReport>({ kind: 'throttled', retryAfterMs: 10, sends: 1 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(report, fc.integer({ min: 0, max: 8_000 })), {
          maxLength: 40,
          size: 'max',
        }),
        (heard) => {
          let pursuit = newPursuit();
          let now = 0;
          let absentSince: number | null = null;
          for (const [one, gap] of heard) {
            now += gap;
            const [next, step] = nextStep(pursuit, one, finalAfter, now);
            const proven =
              one.kind === 'not_found' && absentSince !== null && now - absentSince >= 5_000;
            const allowed = one.kind === 'unsent' || one.kind === 'throttled' || proven;
            expect(step.do !== 'send' || allowed).toBe(true);
            absentSince =
              one.kind === 'not_found' && step.do !== 'send' ? (absentSince ?? now) : null;
            pursuit = next;
          }
        },
      ),
    );
  });
});
