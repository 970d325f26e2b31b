import fc from 'fast-check';
import { judge, OPERATOR_KINDS, readCommand } from '../../src/pursuits/operator.js';
import type { CallReport, OperatorCommand } from '../../src/pursuits/reports.js';
import { transferWords } from '../../src/transfers/words.js';

const order = (kind: OperatorCommand['kind'], force = false): OperatorCommand => ({
  kind,
  actor: 'ada',
  reason: 'r',
  sessionId: null,
  force,
});
const paid: CallReport = {
  kind: 'paid',
  amountMinor: 1,
  sessionId: 's',
  providerRequestId: null,
  via: 'poll',
};
const processing = { status: 'processing', attention: null } as const;
const undecided: CallReport[] = [
  { kind: 'pending' },
  { kind: 'unknown', reason: 'timeout' },
  { kind: 'not_found', sends: 1, tries: 1, absence: { kind: 'deduplicates' } },
];

describe('an operator', () => {
  test('whatever is sent as a message, reading it answers and never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (payload) => {
        const read = readCommand('fail', payload);
        expect('problem' in read || (read.actor.length > 0 && read.reason.length > 0)).toBe(true);
      }),
    );
  });

  test('completes only what the bank says is paid', () => {
    expect(judge(order('complete'), paid, processing, transferWords)).toMatchObject({
      done: true,
      act: 'confirm',
    });
    const rest: CallReport[] = [
      ...undecided,
      { kind: 'refused', code: 'x', providerRequestId: null, via: 'poll' },
    ];
    for (const bank of rest) {
      expect(judge(order('complete', true), bank, processing, transferWords)).toMatchObject({
        done: false,
        act: 'nothing',
      });
    }
  });

  test('fails against a silent or undecided bank only by force, and never what is paid', () => {
    for (const bank of undecided) {
      expect(judge(order('fail'), bank, processing, transferWords)).toMatchObject({
        done: false,
        act: 'nothing',
      });
      expect(judge(order('fail', true), bank, processing, transferWords)).toMatchObject({
        done: true,
        act: 'release',
      });
    }
    expect(judge(order('fail', true), paid, processing, transferWords)).toMatchObject({
      done: false,
      act: 'nothing',
    });
  });

  test('what is so already is done, whatever the bank says now', () => {
    for (const bank of undecided) {
      const completed = { status: 'completed', attention: null } as const;
      const failed = { status: 'failed', attention: null } as const;
      expect(judge(order('complete'), bank, completed, transferWords)).toMatchObject({
        done: true,
        act: 'nothing',
      });
      expect(judge(order('fail'), bank, failed, transferWords)).toMatchObject({
        done: true,
        act: 'nothing',
      });
    }
  });

  test('reads in the words of the capability who said what, whoever the provider is', () => {
    const cardWords = {
      record: 'card funding',
      provider: 'issuer',
      payment: 'funding',
      pay: 'fund',
      paid: 'funded',
      meanwhile: 'The money is held',
      release: 'the hold is released',
      late: 'a funding goes to suspense',
      adopt: 'one in suspense is then taken from the wallet',
    };
    const reports: CallReport[] = [
      ...undecided,
      paid,
      { kind: 'refused', code: 'x', providerRequestId: null, via: 'poll' },
    ];
    for (const kind of OPERATOR_KINDS) {
      for (const report of reports) {
        const { message } = judge(order(kind, true), report, processing, cardWords);
        expect(message).not.toMatch(/bank|payment|paid|pay\b/);
      }
    }
  });
});
