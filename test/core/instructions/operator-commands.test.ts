import fc from 'fast-check';
import {
  evaluateAttestedAbsence,
  evaluateOperatorCommand,
  OPERATOR_COMMANDS,
  parseOperatorCommand,
} from '../../../src/core/instructions/operator-commands.js';
import type {
  ProviderCallResult,
  StatusReport,
  OperatorCommand,
} from '../../../src/core/instructions/workflow-contract.js';
import { transferContract } from '../../../src/capabilities/transfers/workflow-contract.js';

const command = (kind: OperatorCommand['kind'], force = false): OperatorCommand => ({
  kind,
  actor: 'ada',
  reason: 'r',
  sessionId: null,
  force,
});
const paid: ProviderCallResult = {
  kind: 'succeeded',
  amountMinor: 1,
  sessionId: 's',
  providerRequestId: null,
  via: 'poll',
};
const processing = { status: 'processing', attention: null } as const;
const undecided: ProviderCallResult[] = [
  { kind: 'pending' },
  { kind: 'unknown', reason: 'timeout' },
  {
    kind: 'not_found',
    submissions: 1,
    possibleSubmissions: 1,
    resendSafety: { kind: 'idempotent', forMs: null },
  },
];

const { labels } = transferContract;

test('absence is attested by retry alone, and changes nothing unless the provider does not know the payment', () => {
  const payload = { actor: 'ada', reason: 'r', absent: true };
  expect(parseOperatorCommand('retry', payload)).toMatchObject({ kind: 'retry', absent: true });
  expect(parseOperatorCommand('retry', { ...payload, absent: 'yes' })).toHaveProperty('problem');
  for (const kind of ['verify', 'complete', 'fail'] as const) {
    expect(parseOperatorCommand(kind, payload)).toHaveProperty('problem');
  }
  const unknown: ProviderCallResult = { kind: 'unknown', reason: 'timeout' };
  expect(evaluateAttestedAbsence(unknown, false, labels)).toEqual({
    done: false,
    message:
      'Not submitted again: the bank does not answer. An attested absence changes nothing then.',
  });
});

test('an attempt is named beside the amount that was paid', () => {
  const payload = { actor: 'ada', reason: 'r', amount_minor: 100, attempt: 2 };
  const parsed = { kind: 'complete', amountMinor: 100, attempt: 2 };
  expect(parseOperatorCommand('complete', payload)).toMatchObject(parsed);
  for (const wrong of [{ attempt: 0 }, { attempt: '2' }, { amount_minor: null }]) {
    expect(parseOperatorCommand('complete', { ...payload, ...wrong })).toHaveProperty('problem');
  }
  expect(parseOperatorCommand('fail', payload)).toHaveProperty('problem');
});

describe('an operator command', () => {
  test('parsing never throws, whatever the payload is', () => {
    fc.assert(
      fc.property(fc.anything(), (payload) => {
        const read = parseOperatorCommand('fail', payload);
        expect('problem' in read || (read.actor.length > 0 && read.reason.length > 0)).toBe(true);
      }),
    );
  });

  test('is not done by the workflow of an earlier instruction, also by force', () => {
    for (const kind of ['complete', 'fail'] as const) {
      const earlier = { kind: 'closed', attention: null } as const;
      const sent = { ...command(kind), force: true };
      expect(evaluateOperatorCommand(sent, earlier, processing, labels)).toEqual({
        done: false,
        effect: 'nothing',
        message: 'Not done: another workflow carries out the present instruction of this record.',
      });
    }
  });

  test('complete is done only if the bank reports the payment', () => {
    expect(evaluateOperatorCommand(command('complete'), paid, processing, labels)).toMatchObject({
      done: true,
      effect: 'confirm',
    });
    const rest: ProviderCallResult[] = [
      ...undecided,
      { kind: 'rejected', code: 'x', providerRequestId: null, via: 'poll' },
    ];
    for (const bank of rest) {
      expect(evaluateOperatorCommand(command('complete'), bank, processing, labels)).toMatchObject({
        done: false,
        effect: 'nothing',
      });
    }
  });

  test('a forced complete captures an open transfer of a silent or undecided bank, and overrules no bank that rejects', () => {
    const forced = command('complete', true);
    const of = (bank: ProviderCallResult, status: StatusReport) =>
      evaluateOperatorCommand(forced, bank, status, labels).effect;
    expect(of({ kind: 'pending' }, processing)).toBe('capture');
    expect(of({ kind: 'unknown', reason: 'timeout' }, processing)).toBe('capture');
    expect(of({ kind: 'pending' }, { ...processing, status: 'failed' })).toBe('nothing');
    const rejected = { kind: 'rejected', code: 'x', providerRequestId: null, via: 'poll' } as const;
    expect(of(rejected, processing)).toBe('nothing');
  });

  test('fail against a silent or undecided bank needs force, and is refused for a paid transfer', () => {
    for (const bank of undecided) {
      expect(evaluateOperatorCommand(command('fail'), bank, processing, labels)).toMatchObject({
        done: false,
        effect: 'nothing',
      });
      expect(
        evaluateOperatorCommand(command('fail', true), bank, processing, labels),
      ).toMatchObject({
        done: true,
        effect: 'release',
      });
    }
    expect(evaluateOperatorCommand(command('fail', true), paid, processing, labels)).toMatchObject({
      done: false,
      effect: 'nothing',
    });
  });

  test('a forced fail ends what the bank contradicts without ending it, and nothing that its answer has ended', () => {
    const source = { providerRequestId: null, via: 'poll' } as const;
    const rejected = { ...source, kind: 'rejected', code: 'x' } as const;
    const reversed = { ...source, kind: 'reversed', amountMinor: 1, sessionId: null } as const;
    const of = (bank: ProviderCallResult, status: StatusReport['status'], unsettled: boolean) =>
      [false, true].map((force) => {
        const report = { status, attention: null, unsettled };
        const { done, effect } = evaluateOperatorCommand(
          command('fail', force),
          bank,
          { ...report, attention: 'called' },
          labels,
        );
        return `${done} ${effect}`;
      });
    const needsForce = ['false nothing', 'true release'];
    const asTheBankSays = ['true nothing', 'true nothing'];
    expect(of(rejected, 'completed', true)).toEqual(needsForce);
    expect(of(rejected, 'failed', true)).toEqual(needsForce);
    expect(of(rejected, 'processing', true)).toEqual(asTheBankSays);
    for (const status of ['processing', 'completed', 'failed'] as const) {
      expect(of(reversed, status, true)).toEqual(needsForce);
      expect(of(reversed, status, false)).toEqual(asTheBankSays);
    }
  });

  test('a command whose result already exists is done, regardless of the bank’s answer', () => {
    for (const bank of undecided) {
      const completed = { status: 'completed', attention: null } as const;
      const failed = { status: 'failed', attention: null } as const;
      expect(evaluateOperatorCommand(command('complete'), bank, completed, labels)).toMatchObject({
        done: true,
        effect: 'nothing',
      });
      expect(evaluateOperatorCommand(command('fail'), bank, failed, labels)).toMatchObject({
        done: true,
        effect: 'nothing',
      });
    }
  });

  test('its answer uses the labels of the capability', () => {
    const cardLabels = {
      record: 'card funding',
      provider: 'issuer',
      payment: 'funding',
      pay: 'fund',
      paid: 'funded',
      meanwhile: 'The money is held',
      release: 'the hold is released',
      late: 'a funding goes to suspense',
      suspenseDebit: 'one in suspense is then taken from the wallet',
    };
    const reports: ProviderCallResult[] = [
      ...undecided,
      paid,
      { kind: 'rejected', code: 'x', providerRequestId: null, via: 'poll' },
    ];
    for (const kind of OPERATOR_COMMANDS) {
      for (const report of reports) {
        const { message } = evaluateOperatorCommand(
          command(kind, true),
          report,
          processing,
          cardLabels,
        );
        expect(message).not.toMatch(/bank|payment|paid|pay\b/);
      }
    }
  });
});
