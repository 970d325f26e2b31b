import type { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;
type RawSize = Pick<z.core.$ZodIssueTooSmall, 'origin' | 'inclusive'>;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  date: 'a date such as 2026-11-21',
  datetime: 'a time such as 2026-12-31T08:00:00Z, with its offset',
};

/**
 * The message of an issue that has none from its schema: one sentence that says what the value must be. It never has
 * the library's own words, which describe types and operators, and never the value itself.
 */
export function issueMessage(found: RawIssue): string {
  if (found.input === undefined) return 'This field is required.';
  switch (found.code) {
    case 'invalid_type':
      return `must be ${typeName(found.expected, found.inst)}`;
    case 'invalid_value':
      return `must be ${listed(found.values.map((value) => JSON.stringify(value)))}`;
    case 'too_small':
      return tooSmall(found);
    case 'too_big':
      return tooBig(found);
    case 'invalid_format':
      return `must be ${FORMATS[found.format] ?? 'in the documented format'}`;
    case 'not_multiple_of':
      return `must be a multiple of ${found.divisor}`;
    default:
      return 'must be as the documentation says';
  }
}

/** An integer's schema asks for a number first: "must be a number" would send the caller through two refusals. */
function typeName(expected: string, schema: unknown): string {
  const { format } = (schema as z.core.$ZodNumberFormat | undefined)?._zod.def ?? {};
  const name = expected === 'number' && format === 'safeint' ? 'int' : expected;
  return TYPES[name] ?? 'of the documented type';
}

function tooSmall({ origin, minimum, inclusive }: RawSize & { minimum: number | bigint }): string {
  if (origin === 'string' && minimum === 1) return 'must not be empty';
  if (origin === 'string') return `must have at least ${counted(minimum, 'character')}`;
  if (origin === 'array') return `must have at least ${counted(minimum, 'item')}`;
  return inclusive === false ? `must be more than ${minimum}` : `must be at least ${minimum}`;
}

function tooBig({ origin, maximum, inclusive }: RawSize & { maximum: number | bigint }): string {
  if (origin === 'string') return `must have at most ${counted(maximum, 'character')}`;
  if (origin === 'array') return `must have at most ${counted(maximum, 'item')}`;
  return inclusive === false ? `must be less than ${maximum}` : `must be at most ${maximum}`;
}

const counted = (count: number | bigint, noun: string) =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;

const listed = ([first = '', ...others]: string[]) =>
  others.length === 0 ? first : `one of ${[first, ...others].join(', ')}`;

/** The message for a name that goes to a provider as it is. */
export const PRINTABLE = 'must have printable ASCII characters only, without spaces';

/** The error setting of a text with a pattern and a maximum length: the message names the one that the text violates. */
export const textErrors = (most: number, otherwise: string) => ({
  error: ({ input }: { input?: unknown }) => textProblem(String(input), most) ?? otherwise,
});

/** The message for a text that is empty or too long; null if its length is right. */
export function textProblem(text: string, most: number): string | null {
  if (text === '') return 'must not be empty';
  return [...text].length > most ? `must have at most ${counted(most, 'character')}` : null;
}
