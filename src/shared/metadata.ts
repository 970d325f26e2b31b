import { z } from 'zod';
import type { ZodOpenApiSchemaObject } from 'zod-openapi';

const MAX_BYTES = 8 * 1024;
const MAX_KEYS = 50;
const MAX_DEPTH = 5;

/** Pattern of field names: excludes those that MongoDB or JavaScript would interpret; see platform/http/json.ts. */
export const FIELD_NAME = { pattern: '^(?!\\$)(?!__proto__$)[^\\u0000]*$' };

/**
 * The nesting limit as JSON Schema, one component for each level: `nested(1)` is the deepest level that holds values.
 */
const nested = (level: number): ZodOpenApiSchemaObject => ({
  propertyNames: FIELD_NAME,
  additionalProperties: { $ref: `#/components/schemas/MetadataLevel${level - 1}` },
  items: { $ref: `#/components/schemas/MetadataLevel${level - 1}` },
});

/** The components of the OpenAPI document that bound how deep metadata nests. */
export const metadataLevels: Record<string, ZodOpenApiSchemaObject> = {
  MetadataLevel0: { type: ['string', 'number', 'boolean', 'null'] },
  ...Object.fromEntries(
    Array.from({ length: MAX_DEPTH - 1 }, (_, i) => [`MetadataLevel${i + 1}`, nested(i + 1)]),
  ),
};

/** Schema of a caller's `metadata`, with the bounds of `findMetadataProblem`. */
export const metadata = z
  .record(z.string(), z.unknown())
  .superRefine((value, ctx) => {
    const problem = findMetadataProblem(value);
    if (problem) ctx.addIssue({ code: 'custom', path: problem.path, message: problem.message });
  })
  .meta({
    description: 'Whatever you want to keep with it: 8 KiB, 50 keys, 5 levels. No card numbers.',
    example: { order: '1042' },
    override: { ...nested(MAX_DEPTH), type: 'object', maxProperties: MAX_KEYS, items: undefined },
  });

type Problem = { path: string[]; message: string };

/**
 * The first reason why a caller's metadata is refused, or null. Bounds: 8 KiB of JSON, 50 keys, 5 levels. Card numbers
 * are refused, because they must never be stored, not even in a free field.
 */
export function findMetadataProblem(metadata: Record<string, unknown>): Problem | null {
  if (Buffer.byteLength(JSON.stringify(metadata)) > MAX_BYTES) {
    return { path: [], message: `must be at most ${MAX_BYTES} bytes of JSON` };
  }
  const open: { value: unknown; path: string[]; depth: number }[] = [
    { value: metadata, path: [], depth: 1 },
  ];
  let keys = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path, depth } = next;
    if (typeof value === 'string' || typeof value === 'number') {
      // Decimal places are not checked: they would cause false matches.
      const text = typeof value === 'string' ? value : String(Math.trunc(value));
      if (holdsCardNumber(text)) return { path, message: 'must not hold a card number' };
    } else if (typeof value === 'object' && value !== null) {
      if (depth > MAX_DEPTH) return { path, message: `must be at most ${MAX_DEPTH} levels deep` };
      keys += Array.isArray(value) ? 0 : Object.keys(value).length;
      if (keys > MAX_KEYS) return { path: [], message: `must have at most ${MAX_KEYS} keys` };
      for (const [name, child] of Object.entries(value)) {
        if (holdsCardNumber(name)) return { path, message: 'must not hold a card number' };
        open.push({ value: child, path: [...path, name], depth: depth + 1 });
      }
    }
  }
  return null;
}

/** Ids and digests in hexadecimal are skipped: by chance, one in some hundreds contains digits that pass the check. */
const HEXADECIMAL =
  /(?<![0-9A-Za-z])(?=[0-9]*[a-f])(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![0-9A-Za-z])/gi;
/** A card number without separators, anywhere in a text. */
const BARE = /(?<![0-9])[3-6][0-9]{12,18}(?![0-9])/g;
/** A card number in groups, as a word of its own. A UUID has groups of digits too, and is not matched. */
const GROUPED =
  /(?<![0-9A-Za-z])(?:[3-6][0-9]{3}([ ._/‐–-])[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?|3[0-9]{3}([ ._/‐–-])[0-9]{6}\2[0-9]{5})(?![0-9A-Za-z])/g;

/**
 * Detects 13 to 19 digits, grouped or not, that begin like a payment card (3 to 6) and pass the Luhn check. Digits and
 * spaces of other scripts are normalised first.
 */
export function holdsCardNumber(text: string): boolean {
  const plain = text.normalize('NFKC').replaceAll(HEXADECIMAL, ' ');
  const runs = [...(plain.match(BARE) ?? []), ...(plain.match(GROUPED) ?? [])];
  return runs.some((run) => passesLuhn(run.replaceAll(/[^0-9]/g, '')));
}

function passesLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
