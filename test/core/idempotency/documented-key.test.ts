import fc from 'fast-check';
import { readClaim } from '../../../src/core/idempotency/with-idempotency.js';
import { openApi } from '../../../src/composition/operations.js';

type Parameter = {
  name: string;
  schema: { pattern: string; minLength: number; maxLength: number };
};

const parameters = openApi().paths?.['/api/v1/transfers']?.post?.parameters as
  Parameter[] | undefined;
const schema = parameters?.find(({ name }) => name === 'Idempotency-Key')?.schema;
if (!schema) throw new Error('POST /transfers has no documented Idempotency-Key');
const { pattern, minLength, maxLength } = schema;
const documented = new RegExp(pattern, 'u');

const isDocumented = (header: string) =>
  documented.test(header) && header.length >= minLength && header.length <= maxLength;

function isAccepted(header: string): boolean {
  const owner = { tenantId: 'ten_a', kind: 'secret' } as const;
  try {
    readClaim({ owner, method: 'POST', path: '/', header, body: {}, now: new Date(0) });
    return true;
  } catch {
    return false;
  }
}

/** Header values: no spaces at the ends, many of the characters that quoting is about. */
const piece = fc.oneof(
  fc.constantFrom('"', '\\', '\\"', '\\\\', ' ', 'a'),
  fc.constantFrom('a'.repeat(253), '\\"'.repeat(127), 'é', '\u007f'),
);
const header = fc
  .tuple(fc.array(piece, { maxLength: 8 }), fc.boolean())
  .map(([pieces, quoted]) => (quoted ? `"${pieces.join('')}"` : pieces.join('').trim()));

test('the document permits exactly the Idempotency-Key headers that the service accepts', () => {
  fc.assert(
    fc.property(header, (value) => {
      expect([value, isDocumented(value)]).toEqual([value, isAccepted(value)]);
    }),
    { numRuns: 5_000 },
  );
});

test.each<[string, string, boolean]>([
  ['255 characters', 'k'.repeat(255), true],
  ['256 characters', 'k'.repeat(256), false],
  ['255 characters between quotes', `"${'k'.repeat(255)}"`, true],
  ['256 characters between quotes', `"${'k'.repeat(256)}"`, false],
  ['255 escaped characters between quotes', `"${'\\"'.repeat(255)}"`, true],
  ['256 escaped characters between quotes', `"${'\\"'.repeat(256)}"`, false],
  ['nothing between quotes', '""', false],
  ['one quote', '"', true],
])('%s', (_name, value, fits) => {
  expect([isDocumented(value), isAccepted(value)]).toEqual([fits, fits]);
});
