import { readEnvelope } from '../../src/core/providers/paystack/envelope.js';
import { meaningOf, REFUSALS, type Call } from '../../src/core/providers/paystack/refusals.js';

const now = new Date('2026-11-25T12:00:00Z');
const read = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  readEnvelope({ status, body, headers }, now);
const refusal = (message: string, code?: string) => ({
  status: false,
  message,
  ...(code && { code }),
});

describe('the envelope of an answer', () => {
  test.each([
    ['a success', 200, { status: true, message: 'Done', data: { a: 1 } }, 'done'],
    ['a created recipient', 201, { status: true, message: 'Created', data: {} }, 'done'],
    [
      'the word success as its status',
      200,
      { status: 'success', message: 'Done', data: [] },
      'done',
    ],
    ['a refusal under 200', 200, refusal('No'), 'refused'],
    ['a refusal under 400', 400, refusal('No', 'invalid_params'), 'refused'],
    [
      'a success under 400, which contradicts itself',
      400,
      { status: true, message: 'Done' },
      'unreadable',
    ],
    ['a 404 without an envelope', 404, { error: 'no such path' }, 'unreadable'],
    ['an envelope without a status', 200, { message: 'Done', data: {} }, 'unreadable'],
    ['a status that is a number', 200, { status: 1, message: 'Done' }, 'unreadable'],
    ['a list', 200, [], 'unreadable'],
    ['null', 200, null, 'unreadable'],
    ['a 401', 401, refusal('Anything'), 'credentials'],
    ['a refused key under another status', 400, refusal('Invalid key'), 'credentials'],
    ['an expired token', 403, refusal('Authentication token expired'), 'credentials'],
    ['a 429 in any form', 429, undefined, 'throttled'],
    ['the code of a 429 under another status', 400, refusal('No', 'rate_limited'), 'throttled'],
  ])('%s is sorted', (_what, status, body, kind) => {
    expect(read(status, body).kind).toBe(kind);
  });

  test.each([
    [{ 'x-ratelimit-reset': '7' }, 7_000],
    [{ 'x-ratelimit-reset': String(now.getTime() / 1000 + 9) }, 9_000],
    [{ 'x-ratelimit-reset': String(now.getTime() + 9_500) }, 9_500],
    [{ 'x-ratelimit-reset': String(now.getTime() / 1000 - 50) }, 1_000],
    [{ 'x-ratelimit-reset': '0' }, 1_000],
    [{ 'x-ratelimit-reset': 'soon' }, 1_000],
    [{ 'x-ratelimit-reset': '999999999' }, 3_600_000],
    [{ 'retry-after': '4' }, 4_000],
    [{}, 1_000],
  ])('the pause of a 429 with %j is %d ms', (headers, afterMs) => {
    expect(read(429, {}, headers)).toEqual({ kind: 'throttled', afterMs });
  });
});

const NO_PRIVILEGE = 'Error: You do not have privileges for this action. Kindly contact admin';

describe('the meaning of a refusal', () => {
  const meaning = (call: Call, message: string, code?: string) => {
    const read_ = read(400, refusal(message, code));
    if (read_.kind !== 'refused') throw new Error('not a refusal');
    return meaningOf(call, read_);
  };
  const unrecognized = { kind: 'unknown', reason: 'unrecognized' };
  const conflict = { kind: 'unknown', reason: 'conflict' };
  const rejected = (code: string) => ({ kind: 'rejected', code, scope: 'request' });
  const paused = (reason: string, fault?: string) =>
    expect.objectContaining({
      kind: 'rejected_temporarily',
      reason,
      ...(fault && { fault }),
    }) as unknown;

  test.each<[Call, string, string | undefined, unknown]>([
    ['submit', 'Anything', 'duplicate_transfer_reference', conflict],
    [
      'submit',
      'Please provide a unique reference. Reference already exists on a transfer',
      undefined,
      conflict,
    ],
    [
      'submit',
      'Recipient specified is invalid',
      'invalid_transfer_recipient',
      paused('stale_handle'),
    ],
    [
      'submit',
      'Your balance is not enough to fulfil this request',
      undefined,
      paused('float', 'float'),
    ],
    [
      'submit',
      'Your balance is not enough to fulfill this request.',
      'unknown',
      paused('float', 'float'),
    ],
    [
      'submit',
      'You cannot initiate third party payouts as a starter business',
      undefined,
      paused('suspended', 'suspended'),
    ],
    [
      'submit',
      'Integration has been deactivated',
      'invalid_params',
      paused('suspended', 'suspended'),
    ],
    ['submit', 'Account closed', undefined, rejected('account_closed')],
    ['submit', 'ACCOUNT CLOSED. ', undefined, rejected('account_closed')],
    [
      'submit',
      'Your reference contains illegal special characters',
      undefined,
      paused('suspended', 'bad_request'),
    ],
    ['submit', 'amount is required', 'missing_params', paused('suspended', 'bad_request')],
    ['submit', 'System Malfunction', 'unknown', unrecognized],
    ['submit', 'Something new', 'something_new', unrecognized],
    ['submit', 'constructor', 'toString', unrecognized],
    ['prepare', 'Bank is invalid', 'invalid_params', rejected('invalid_account')],
    ['verifyTransfer', 'Transfer not found', undefined, { kind: 'not_found' }],
    ['verifyTransfer', 'Transaction not found', 'not_found', unrecognized],
    [
      'resolve',
      'Could not resolve account name. Check parameters or try again.',
      undefined,
      { kind: 'not_found' },
    ],
    ...(['openPage', 'confirm', 'setUp', 'refund'] as const).map(
      (call): [Call, string, undefined, unknown] => [
        call,
        NO_PRIVILEGE,
        undefined,
        paused('suspended', 'bad_request'),
      ],
    ),
    ['refund', 'Access denied', undefined, paused('suspended', 'bad_request')],
    ['submit', NO_PRIVILEGE, undefined, paused('suspended', 'suspended')],
    ['openPage', 'Duplicate Transaction Reference', 'duplicate_reference', conflict],
    [
      'confirm',
      'Invalid Authorization Code',
      'invalid_params',
      rejected('authorization_not_found'),
    ],
    ['confirm', 'Charge attempt cannot be fulfilled until 60 minutes', undefined, unrecognized],
    ['verifyCharge', 'Transaction reference not found.', undefined, { kind: 'not_found' }],
    ['verifyCharge', 'Anything', 'transaction_not_found', { kind: 'not_found' }],
    [
      'refund',
      'Transaction has been fully reversed',
      undefined,
      rejected('charge_already_refunded'),
    ],
    [
      'refund',
      'Insufficient balance to fulfill this refund. Please top up.',
      undefined,
      paused('float', 'float'),
    ],
    ['revoke', 'Authorization code not found', undefined, { kind: 'not_found' }],
  ])('%s: %j (%j)', (call, message, code, expected) => {
    expect(meaning(call, message, code)).toEqual(expected);
  });

  test('the texts of the tables have the form in which texts are compared', () => {
    for (const table of Object.values(REFUSALS)) {
      for (const text of Object.keys('texts' in table ? table.texts : {})) {
        expect(text).toBe(text.trim().toLowerCase().replace(/\.$/, ''));
      }
    }
  });

  test('no refusal of a submission means that the instruction will never happen', () => {
    for (const table of Object.values(REFUSALS)) {
      for (const meanings of Object.values(table)) {
        for (const each of Object.values(meanings)) {
          if (each.kind === 'rejected') expect(each.scope).toBe('request');
        }
      }
    }
  });
});
