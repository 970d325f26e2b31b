import fc from 'fast-check';
import type { Absence } from '../../src/providers/provider.js';
import type { CallReport } from '../../src/pursuits/reports.js';
import { transferWords } from '../../src/transfers/words.js';
import { MAX_ERRORS, MAX_SENDS } from '../../workflows/policies.js';
import {
  newPursuit,
  nextStep,
  oneMoreTry,
  type Pursuit,
  type Rules,
  type Step,
} from '../../workflows/pursuit-steps.js';

const rules: Rules = {
  policy: { attentionAfterMs: 86_400_000, pollMaxMs: 600_000 },
  words: transferWords,
};
const finalAfter: Absence = { kind: 'final_after', ms: 5_000 };
const deduplicates: Absence = { kind: 'deduplicates' };
const never: Absence = { kind: 'never' };

const sent = (sends = 1) => ({ sends, tries: sends });
const silent: CallReport = { kind: 'unknown', reason: 'timeout', ...sent() };
const notFound = (absence: Absence, sends = 1): CallReport => ({
  kind: 'not_found',
  absence,
  ...sent(sends),
});

/** Feeds reports at given times; answers the last step and the state. A question and its answer take no time. */
function walk(reports: [CallReport, number][], start: Pursuit = newPursuit()) {
  let pursuit = start;
  let step: Step = { do: 'send', afterMs: 0 };
  for (const [report, at] of reports) {
    [pursuit, step] = nextStep(pursuit, report, rules, { askedMs: at, heardMs: at });
  }
  return { pursuit, step };
}

describe('what comes next for a record', () => {
  test('silence after the order is never followed by another order, but by a question', () => {
    for (const reason of [
      'timeout',
      'connection',
      'server_error',
      'unreadable',
      'too_old',
    ] as const) {
      expect(walk([[{ kind: 'unknown', reason, ...sent() }, 0]]).step.do).toBe('ask');
    }
  });

  test('without de-duplication one "not found" sends nothing; two that far apart do', () => {
    const absent = notFound(finalAfter);
    expect(
      walk([
        [silent, 0],
        [absent, 1_000],
      ]).step,
    ).toMatchObject({ do: 'ask', afterMs: 5_000 });
    const early = walk([
      [silent, 0],
      [absent, 1_000],
      [absent, 5_999],
    ]);
    expect(early.step).toMatchObject({ do: 'ask', afterMs: 1 });
    const proven = walk([
      [silent, 0],
      [absent, 1_000],
      [absent, 6_000],
    ]);
    expect(proven.step).toEqual({ do: 'send', afterMs: 0 });
  });

  test('the time between counts from the first answer to the second question, not to its slow answer', () => {
    const { pursuit } = walk([[notFound(finalAfter), 1_000]]);
    const slow = { askedMs: 1_100, heardMs: 6_300 };
    const [, step] = nextStep(pursuit, notFound(finalAfter), rules, slow);
    expect(step.do).toBe('ask');
  });

  test('anything else heard between two "not found" starts the proof of absence again', () => {
    const others: CallReport[] = [
      silent,
      { kind: 'pending' },
      { kind: 'not_permitted', attention: null },
    ];
    for (const between of others) {
      const absent = notFound(finalAfter);
      const { step } = walk([
        [absent, 0],
        [between, 3_000],
        [absent, 10_000],
      ]);
      expect(step).toMatchObject({ do: 'ask', afterMs: 5_000 });
    }
  });

  test('a proof of absence is used up by the order that it allowed', () => {
    const absent = notFound(finalAfter);
    const { step } = walk([
      [absent, 0],
      [absent, 5_000],
      [silent, 6_000],
      [notFound(finalAfter, 2), 20_000],
    ]);
    expect(step.do).toBe('ask');
  });

  test('an order that somebody else has sent between two "not found" starts the proof of absence again', () => {
    const { step, pursuit } = walk([
      [notFound(finalAfter, 1), 0],
      [notFound(finalAfter, 2), 6_000],
    ]);
    expect(step).toMatchObject({ do: 'ask', afterMs: 5_000 });
    expect(walk([[notFound(finalAfter, 2), 11_000]], pursuit).step).toEqual({
      do: 'send',
      afterMs: 0,
    });
  });

  test('with de-duplication "not found" allows the same order again', () => {
    expect(
      walk([
        [silent, 0],
        [notFound(deduplicates), 1_000],
      ]).step,
    ).toEqual({ do: 'send', afterMs: 0 });
  });

  test('where nothing proves absence, an operator is called and nothing is sent', () => {
    const { step } = walk([
      [silent, 0],
      [notFound(never), 1_000],
    ]);
    expect(step).toMatchObject({ do: 'ask', stuck: expect.stringMatching(/cannot rule it out/) });
  });

  test('orders are bounded: an operator is called, asking goes on, and a retry grants one order more', () => {
    const bound = walk([[notFound(deduplicates, MAX_SENDS + 3), 0]]);
    expect(bound.step).toMatchObject({ do: 'ask', stuck: expect.any(String) });
    const pushed = walk([[notFound(deduplicates, MAX_SENDS + 3), 1]], oneMoreTry(bound.pursuit));
    expect(pushed.step.do).toBe('send');
    expect(walk([[notFound(deduplicates, MAX_SENDS + 4), 2]], pushed.pursuit).step.do).toBe('ask');
  });

  test('a bank that answers with errors again and again is a reason to call an operator; one that is away is not', () => {
    const errors = (reason: 'server_error' | 'connection') =>
      walk(
        Array.from(
          { length: MAX_ERRORS },
          (_, i) => [{ kind: 'unknown', reason, ...sent() }, i] as [CallReport, number],
        ),
      ).step;
    expect(errors('server_error')).toMatchObject({ stuck: expect.any(String) });
    expect(errors('connection')).toMatchObject({ stuck: null });
  });

  test('polls back off from a second to the longest pause and stay there', () => {
    let pursuit = newPursuit();
    const pauses = Array.from({ length: 14 }, () => {
      const [next, step] = nextStep(pursuit, { kind: 'pending' }, rules, {
        askedMs: 0,
        heardMs: 0,
      });
      pursuit = next;
      return step.do === 'ask' ? step.afterMs : NaN;
    });
    expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(pauses.slice(-2)).toEqual([600_000, 600_000]);
  });

  test('an explicit "not now" is waited out longer and longer, uses up no try, and is told once', () => {
    const report = (sends: number): CallReport => ({
      kind: 'throttled',
      retryAfterMs: 1_500,
      sends,
      tries: 0,
    });
    expect(walk([[report(1), 0]]).step).toEqual({ do: 'send', afterMs: 1_500, quietly: true });
    const later = walk(Array.from({ length: 8 }, (_, i) => [report(i + 1), i]));
    expect(later.step).toMatchObject({ do: 'send', afterMs: 128_000 });
    const absent: CallReport = { ...notFound(deduplicates, 9), tries: 1 } as CallReport;
    expect(walk([[absent, 0]], later.pursuit).step.do).toBe('send');
  });

  test('a record that has ended and needs an operator keeps its workflow; one that does not ends it', () => {
    expect(walk([[{ kind: 'closed', attention: null }, 0]]).step).toEqual({ do: 'end' });
    const attention = walk([[{ kind: 'closed', attention: 'in suspense' }, 0]]);
    expect(attention.step).toMatchObject({ do: 'ask', stuck: 'in suspense', closed: true });
  });

  test('what was given up is asked about less and less often, and calls nobody', () => {
    const given = walk(
      Array.from({ length: 3 }, (_, i) => [{ kind: 'pending', watched: true }, i]),
    );
    expect(given.step).toEqual({ do: 'ask', afterMs: 4_000, stuck: null, closed: true });
  });

  test('whatever is reported in whatever order: an order leaves only when unsent, refused for now, or proven absent', () => {
    const report: fc.Arbitrary<CallReport> = fc.oneof(
      fc.constant(silent),
      fc.constant<CallReport>({ kind: 'pending' }),
      fc.integer({ min: 1, max: 2 }).map((sends) => notFound(finalAfter, sends)),
      fc.constant<CallReport>({ kind: 'not_permitted', attention: null }),
      fc.constant<CallReport>({ kind: 'unsent', sends: 0, tries: 0 }),
      fc.constant<CallReport>({ kind: 'throttled', retryAfterMs: 10, sends: 1, tries: 0 }),
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
            const [next, step] = nextStep(pursuit, one, rules, { askedMs: now, heardMs: now });
            // Orders that others have sent meanwhile count: what was not there before them proves nothing.
            if (one.kind === 'not_found' && one.sends !== pursuit.sends) absentSince = null;
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

  describe('an order that may be repeated', () => {
    const repeatable: Rules = { ...rules, repeatable: true };
    const next = (report: CallReport, pursuit = newPursuit()) =>
      nextStep(pursuit, report, repeatable, { askedMs: 0, heardMs: 0 });

    test('goes out again whenever it is known not to be done, however often that was', () => {
      for (const absence of [never, finalAfter, deduplicates]) {
        const [, step] = next(notFound(absence, 10 * MAX_SENDS));
        expect(step).toEqual({ do: 'send', afterMs: 0 });
      }
    });

    test('is asked about after silence all the same, and later each time', () => {
      let pursuit = newPursuit();
      const pauses = [1, 2, 3].map((sends) => {
        const [silentNow, step] = next({ ...silent, ...sent(sends) }, pursuit);
        [pursuit] = next(notFound(deduplicates, sends), silentNow);
        return step.do === 'ask' && step.afterMs;
      });
      expect(pauses).toEqual([1_000, 2_000, 4_000]);
    });
  });

  test('a refusal that passes is waited out longer and longer, up to the longest pause, and is told once', () => {
    let pursuit = newPursuit();
    const pauses = Array.from({ length: 12 }, (_, i) => {
      const report = { kind: 'refused_for_now', code: 'not_now', sends: i + 1, tries: 0 } as const;
      const [after, step] = nextStep(pursuit, report, rules, { askedMs: 0, heardMs: 0 });
      pursuit = after;
      expect(step).toMatchObject({ do: 'send', quietly: true });
      return step.do === 'send' ? step.afterMs : NaN;
    });
    expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(pauses.at(-1)).toBe(600_000);
  });
});
