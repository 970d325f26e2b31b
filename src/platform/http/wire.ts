import { z } from 'zod';
import type { ZodOpenApiSchemaObject } from 'zod-openapi';
import { FIELD_NAME } from '../../shared/metadata.js';
import { CONTROL, UNSEEN } from '../../shared/text.js';
import { textErrors } from './messages.js';
import { DAY_MS } from '../../shared/durations.js';

/** The largest amount in kobo on the wire, which a JSON number carries exactly. */
export const MAX_AMOUNT_MINOR = Number.MAX_SAFE_INTEGER;

/** Schema of an amount in kobo in an answer. */
export const amountMinor = (description: string) =>
  z.int().min(0).max(MAX_AMOUNT_MINOR).meta({ description });

/** Schema of a time in an answer: ISO 8601 in UTC. */
export const timestamp = (description: string) =>
  z.string().meta({ description, format: 'date-time', example: '2026-11-21T09:30:00.000Z' });

const PLAIN_TEXT = `^[^${CONTROL}${UNSEEN}]+$`;

/**
 * Schema of a text without control, direction and invisible characters. The length counts characters, not UTF-16 units. Lone
 * surrogates would not survive a bank, and are refused in every text of a request.
 */
export const plainText = (max: number) =>
  z
    .string()
    .regex(
      new RegExp(PLAIN_TEXT, 'u'),
      textErrors(Infinity, 'must not contain control, direction or invisible characters'),
    )
    .refine((text) => [...text].length <= max, `must have at most ${max} characters`)
    .meta({ override: { minLength: 1, maxLength: max, pattern: PLAIN_TEXT } });

/** In a name, also the joiners: names are compared. */
const INVISIBLE = `${CONTROL}${UNSEEN}\\u200c\\u200d`;
const OWN_NAME_LENGTH = 100;
/** A segment `.` or `..` would change a path that has the name in it. */
const OWN_NAME = `^(?!\\.{1,2}$)[^ ${INVISIBLE}](?:[^${INVISIBLE}]{0,${OWN_NAME_LENGTH - 2}}[^ ${INVISIBLE}])?$`;

/**
 * Tags and further variation selectors, which flags in a text need and a name refuses. They are not in the pattern, because each
 * language has its own escape for characters above U+FFFF.
 */
const TAGS = /[\u{e0000}-\u{e0fff}]/u;
const NOT_A_NAME =
  'must not begin or end with a space, have control, direction or invisible characters, or be "." or ".."';

/** The one form of a name: two spellings of the same text are one name. */
const composed = (name: string) => name.normalize('NFC');

/** Schema of a caller's own name of something, such as a reference. Names are compared in the form NFC of Unicode. */
export const ownName = (description: string, example: string) =>
  z
    .string()
    .regex(new RegExp(OWN_NAME, 'u'), textErrors(OWN_NAME_LENGTH, NOT_A_NAME))
    .refine((name) => !TAGS.test(name), NOT_A_NAME)
    .overwrite(composed)
    .meta({
      description,
      example,
      override: { minLength: 1, maxLength: OWN_NAME_LENGTH, pattern: OWN_NAME },
    });

/** Schema of a caller's own name of something that exists. A name that was never accepted names nothing. */
export const namedBy = (description: string, example: string) =>
  z.string().min(1).max(OWN_NAME_LENGTH).overwrite(composed).meta({ description, example });

/** Schema of the field `idempotency_key`. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, textErrors(255, 'must have printable ASCII characters only'))
  .meta({
    description:
      'Makes a repeat safe for 24 hours: the same request with the same key gets the saved response, byte for byte, ' +
      'and nothing happens twice. The header `Idempotency-Key` has the same effect.',
    example: 'order-1042',
  });

/** The body of a POST without fields of its own. */
export const keyBody = z.strictObject({ idempotency_key: idempotencyKey.optional() });

/** 1 to 255 characters between quotes, where a backslash before a quote or a backslash does not count. */
const QUOTED_KEY = '"(?:\\\\["\\\\]|\\\\(?!["\\\\])|\\\\(?="$)|[\\x20-\\x5b\\x5d-\\x7e]){1,255}"';
const BARE_KEY = '(?!".*"$)[\\x21-\\x7e](?:[\\x20-\\x7e]{0,253}[\\x21-\\x7e])?';
const MAX_QUOTED_KEY_LENGTH = 2 * 255 + 2;

/**
 * Schema of the header `Idempotency-Key`. A header's value cannot begin or end with spaces, and quotes around it do not
 * belong to the key.
 */
export const idempotencyKeyHeader = z.string().meta({
  description:
    'Has the same effect as the field `idempotency_key`. Quotes around the key are optional. If you send both, they ' +
    'must be equal.',
  override: {
    minLength: 1,
    maxLength: MAX_QUOTED_KEY_LENGTH,
    pattern: `^(?:${QUOTED_KEY}|${BARE_KEY})$`,
  },
});

/** Schema of the header `Prefer`. */
export const prefer = z.string().meta({
  description:
    '`wait=N` (RFC 7240, at most 30): the response comes when the resource has ended, or after N seconds with its ' +
    'present state. Any other preference is ignored.',
  example: 'wait=5',
});

/** A component for any JSON that is accepted now and validated later. */
export const jsonComponents: Record<string, ZodOpenApiSchemaObject> = {
  Json: {
    description:
      'Any JSON, at most 16 levels deep, without an unpaired surrogate (`\\ud800` alone) in a text or a name.',
    propertyNames: FIELD_NAME,
    additionalProperties: { $ref: '#/components/schemas/Json' },
    items: { $ref: '#/components/schemas/Json' },
  },
};

const wholeNumber = (maximum: number, minimum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, {
      error: ({ input }) => {
        if (/^-[0-9]+$/.test(String(input))) return `must be at least ${minimum}`;
        return /^[0-9]+$/.test(String(input))
          ? `must be at most ${maximum}`
          : 'must be a whole number';
      },
    })
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));

const count = (fallback: number, maximum: number, description: string, minimum = 1) =>
  wholeNumber(maximum, minimum)
    .default(fallback)
    .meta({
      description,
      override: { type: 'integer', minimum, maximum, default: fallback, pattern: undefined },
    });

const optionalCount = (maximum: number, description: string, minimum: number) =>
  wholeNumber(maximum, minimum)
    .optional()
    .meta({ description, override: { type: 'integer', minimum, maximum, pattern: undefined } });

const MAX_PAGE = 1_000_000;
const MAX_LIMIT = 100;
const MAX_OFFSET = 100_000_000;

/** `page` and `limit` of a list. The default limit differs, because short lists fit on one page. */
export const pageQuery = (limit = 20) => ({
  page: count(
    1,
    MAX_PAGE,
    'Number of the page. A page beyond the end is empty and has the right totals.',
  ),
  limit: count(limit, MAX_LIMIT, 'Results per page.'),
});

/** `limit` and `offset` of a list, as card lists have them. */
export const offsetQuery = (limit = 20) => ({
  limit: count(limit, MAX_LIMIT, 'Results per page.'),
  offset: count(0, MAX_OFFSET, 'Number of results to skip. Beyond the end the page is empty.', 0),
});

/** `page` or `offset`, and `limit`, of a list that has both. */
export const pageOrOffsetQuery = (limit = 20) => ({
  page: optionalCount(MAX_PAGE, 'Number of the page; 1 without it and without `offset`.', 1),
  limit: count(limit, MAX_LIMIT, 'Results per page.'),
  offset: optionalCount(MAX_OFFSET, 'Number of results to skip, in place of `page`.', 0),
});

/** The position that a query with `pageOrOffsetQuery` names. */
export const positionOf = ({
  page,
  offset,
  limit,
}: {
  page?: number | undefined;
  offset?: number | undefined;
  limit: number;
}) => ({ limit, offset: offset ?? ((page ?? 1) - 1) * limit });

/** The last day of the calendar. The day after it is written `+010000-01-01`, which would sort before all others. */
const LAST_DAY = '9999-12-31';

const day = (description: string) =>
  z.iso
    .date()
    .optional()
    .meta({ description, override: { pattern: undefined } });

/** `start_date` and `end_date` of a list: UTC days, both inclusive. `of` is the time that they select by. */
export const daysQuery = (of: string) => ({
  start_date: day(`First day of ${of}, UTC.`),
  end_date: day(`Last day of ${of}, UTC; not before \`start_date\`.`),
});

type DaysQuery = { start_date?: string | undefined; end_date?: string | undefined };

/** Adds the rule for `start_date` and `end_date` to a query. */
export const withDaysInOrder = <Query extends z.ZodType<DaysQuery>>(query: Query): Query =>
  query.refine(({ start_date: start, end_date: end }) => !start || !end || start <= end, {
    path: ['end_date'],
    message: 'must not be before start_date',
  });

/** The inclusive days of a query as a half-open range of time. */
export const rangeOf = ({ start_date: start, end_date: end }: DaysQuery) => ({
  from: start === undefined ? undefined : new Date(start),
  until: end === undefined || end === LAST_DAY ? undefined : new Date(Date.parse(end) + DAY_MS),
});

/** Schema of the pagination object that every list has. */
export const pagination = z
  .object({
    page: z.int().min(1),
    limit: z.int().min(1),
    total: z.int().min(0),
    pages: z.int().min(0),
    has_more: z.boolean(),
  })
  .meta({ id: 'Pagination', description: 'The position of a page in its list.' });
