import { z } from 'zod';
import { ApiError } from '../../../src/shared/errors.js';
import { validate, type FieldIssue } from '../../../src/platform/http/validate.js';
import {
  amountMinor,
  idempotencyKey,
  pageQuery,
  plainText,
} from '../../../src/platform/http/wire.js';
import { metadata } from '../../../src/shared/metadata.js';
import { operations } from '../../../src/composition/operations.js';
import type { Operation } from '../../../src/platform/http/operation.js';
import { transferBody } from '../../../src/capabilities/transfers/schema.js';

/** The issues that the schema finds in the value, in order. */
function issuesOf(schema: z.ZodType, value: unknown): FieldIssue[] {
  try {
    validate(schema, value, 'body');
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details as { issues: FieldIssue[] }).issues;
  }
}

const messageFor = (schema: z.ZodType, value: unknown) =>
  issuesOf(z.strictObject({ it: schema }), { it: value }).map(({ code, message }) => [
    code,
    message,
  ]);

describe('a message names the one bound or form that the value misses', () => {
  const limit = pageQuery().limit;
  test.each<[string, z.ZodType, unknown, string, string]>([
    ['an amount below', amountMinor(''), -1, 'too_small', 'must be at least 0'],
    [
      'an amount above',
      amountMinor(''),
      2 ** 53,
      'too_big',
      `must be at most ${Number.MAX_SAFE_INTEGER}`,
    ],
    ['a fraction', amountMinor(''), 1.5, 'invalid_type', 'must be a whole number'],
    ['digits as text', amountMinor(''), '150', 'invalid_type', 'must be a whole number'],
    [
      'more than a number can hold',
      amountMinor(''),
      Infinity,
      'invalid_type',
      'must be a whole number',
    ],
    ['an empty narration', plainText(100), '', 'invalid_format', 'must not be empty'],
    [
      'a long narration',
      plainText(100),
      'ä'.repeat(101),
      'custom',
      'must have at most 100 characters',
    ],
    [
      'a control character',
      plainText(100),
      'a\u0007',
      'invalid_format',
      'must not contain control, direction or invisible characters',
    ],
    ['an empty key', idempotencyKey, '', 'invalid_format', 'must not be empty'],
    [
      'a long key',
      idempotencyKey,
      'k'.repeat(256),
      'invalid_format',
      'must have at most 255 characters',
    ],
    ['a limit of zero', limit, '0', 'too_small', 'must be at least 1'],
    ['a negative limit', limit, '-1', 'invalid_format', 'must be at least 1'],
    ['a limit of 101', limit, '101', 'too_big', 'must be at most 100'],
    ['a limit of eleven digits', limit, '12345678901', 'invalid_format', 'must be at most 100'],
    ['a limit in words', limit, 'ten', 'invalid_format', 'must be a whole number'],
    ['an unknown value', z.enum(['a', 'b']), 'c', 'invalid_value', 'must be one of "a", "b"'],
    ['another currency', z.literal('NGN'), 'USD', 'invalid_value', 'must be "NGN"'],
    ['no e-mail address', z.email(), 'ada', 'invalid_format', 'must be an e-mail address'],
    ['no date', z.iso.date(), '1/2/26', 'invalid_format', 'must be a date such as 2026-11-21'],
    ['no boolean', z.boolean(), 'yes', 'invalid_type', 'must be true or false'],
    ['no string', z.string(), 7, 'invalid_type', 'must be a string'],
    ['no object', metadata, [], 'invalid_type', 'must be an object'],
    ['an empty list', z.array(z.string()).min(1), [], 'too_small', 'must have at least 1 item'],
    ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'too_big', 'must have at most 1 item'],
  ])(
    'a message names the one bound or form that the value violates: %s',
    (_name, schema, value, code, message) => {
      // One bound can be missed twice, as an integer's and as the field's own.
      const found = messageFor(schema, value);
      expect(found).toEqual(found.map(() => [code, message]));
      expect(found).not.toEqual([]);
    },
  );

  test('a missing field is called required, and an unknown one unknown', () => {
    const issues = issuesOf(z.strictObject({ needed: z.string() }), { other: 1 });
    expect(issues).toEqual([
      { field: 'needed', code: 'invalid_type', message: 'This field is required.' },
      { field: 'other', code: 'unknown_field', message: 'This field is not known.' },
    ]);
  });
});

/** Wording of the validation library about types, operators and patterns. */
const LIBRARY =
  /invalid|expected|received|too (small|big)|unrecognized|pattern|[<>]=?|\bNaN\b|regex/i;
const OWN = /^(must |This field is |A |The )/;

const WRONG = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  1e300,
  '',
  'x',
  '-',
  ' ',
  'x'.repeat(10_000),
  '2026-13-45',
  '\u0007',
  [],
  [[]],
  ['x', 'x'],
  Array.from({ length: 2_000 }, (_, i) => `${i}`),
  {},
  { x: 1 },
];

type Bodied = [name: string, schema: z.ZodType, example: Record<string, unknown>];

const all: readonly Operation[] = Object.values(operations);
const bodies: Bodied[] = [
  ...all.flatMap(({ id, body, examples }): Bodied[] =>
    body ? [[`${id}, body`, body, (examples?.body ?? {}) as Record<string, unknown>]] : [],
  ),
  ...all.flatMap(({ id, query }): Bodied[] => (query ? [[`${id}, query`, query, {}]] : [])),
  ['an item of createBulkTransfer', transferBody, {}],
];

/** The path of each place of an object that its schema knows. */
function placesOf(schema: z.ZodType, example: Record<string, unknown>): string[][] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return [...new Set([...Object.keys(properties), ...Object.keys(example)])].flatMap((name) => {
    const inner = (properties[name] as z.core.JSONSchema.BaseSchema | undefined)?.properties ?? {};
    return [[name], ...Object.keys(inner).map((child) => [name, child])];
  });
}

function put(example: Record<string, unknown>, [first = '', ...rest]: string[], value: unknown) {
  const inner = example[first];
  const child: unknown =
    rest.length === 0 ? value : put((inner ?? {}) as typeof example, rest, value);
  return { ...example, [first]: child } as Record<string, unknown>;
}

test.each(bodies)(
  'no message contains wording of the validation library: %s',
  (_name, schema, example) => {
    const messages = new Set<string>();
    for (const place of placesOf(schema, example)) {
      for (const value of WRONG) {
        for (const { message } of issuesOf(schema, put(example, place, value)))
          messages.add(message);
      }
    }
    for (const { message } of issuesOf(schema, { surprise: 1 })) messages.add(message);
    for (const message of messages) {
      expect(message).toMatch(OWN);
      // Values of the API are in quotes, such as the status "received" of a deposit.
      expect(message.replaceAll(/"[^"]*"/g, '')).not.toMatch(LIBRARY);
      // The default message of issues without a message of their own.
      expect(message).not.toContain('document');
    }
  },
);
