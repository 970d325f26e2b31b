import { z } from 'zod';
import type { ZodOpenApiSchemaObject } from 'zod-openapi';

const MAX_BYTES = 8 * 1024;
/** Over all levels together. */
export const MAX_KEYS = 50;
const MAX_DEPTH = 5;

/** Pattern of field names: excludes those that MongoDB or JavaScript would interpret; see platform/http/json.ts. */
export const FIELD_NAME = { pattern: '^(?!\\$)(?!__proto__$)[^\\u0000]*$' };

/** The bounds in words, because JSON Schema cannot express most of them. */
export const METADATA_BOUNDS =
  `At most ${MAX_BYTES} bytes of JSON, ${MAX_KEYS} keys over all levels, and ${MAX_DEPTH} levels. Refused are a ` +
  'card number in a text, a name or the integer part of a number, a field for a security code, PIN or track of a ' +
  'card, and an unpaired surrogate (`\\ud800` alone).';

/**
 * The nesting limit as JSON Schema, one component for each level: `nested(1)` is the deepest level that holds values.
 */
const nested = (level: number): ZodOpenApiSchemaObject => ({
  propertyNames: FIELD_NAME,
  maxProperties: MAX_KEYS,
  additionalProperties: { $ref: `#/components/schemas/MetadataLevel${level - 1}` },
  items: { $ref: `#/components/schemas/MetadataLevel${level - 1}` },
});

/** The components of the OpenAPI document that bound how deep metadata nests. */
export const metadataLevels: Record<string, ZodOpenApiSchemaObject> = {
  MetadataLevel0: {
    type: ['string', 'number', 'boolean', 'null'],
    description: 'A value of metadata without levels below it.',
  },
  ...Object.fromEntries(
    Array.from({ length: MAX_DEPTH - 1 }, (_, i) => [
      `MetadataLevel${i + 1}`,
      { ...nested(i + 1), description: `A value of metadata with at most ${i + 1} levels.` },
    ]),
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
    description: `Your own data, stored with the resource. ${METADATA_BOUNDS}`,
    example: { order: '1042' },
    override: { ...nested(MAX_DEPTH), type: 'object', items: undefined },
  });

type Problem = { path: string[]; message: string };

/** The first reason why a caller's metadata is refused, or null. Bounds: 8 KiB of JSON, 50 keys, 5 levels. */
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
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) return { path, message: `must be at most ${MAX_DEPTH} levels deep` };
    keys += Array.isArray(value) ? 0 : Object.keys(value).length;
    if (keys > MAX_KEYS) return { path: [], message: `must have at most ${MAX_KEYS} keys` };
    for (const [name, child] of Object.entries(value)) {
      open.push({ value: child, path: [...path, name], depth: depth + 1 });
    }
  }
  return null;
}
