import { z } from 'zod';
import { idempotencyKey } from '../../platform/http/wire.js';
import {
  FIELD_NAME,
  findMetadataProblem,
  holdsCardNumber,
  MAX_KEYS,
  metadata,
  METADATA_BOUNDS,
} from '../../shared/metadata.js';

/** For `refine`: a text of the caller's that goes onto a record, and perhaps to the issuer. */
export const noCardNumber = [
  (text: string) => !holdsCardNumber(text),
  'must not hold a card number',
] as const;

/**
 * A free-form body: what is known is checked, and all else is kept as metadata, together with the field of that name.
 */
export function freeForm<Known extends z.ZodRawShape>(id: string, known: Known) {
  const fields = {
    ...known,
    metadata: metadata.optional(),
    idempotency_key: idempotencyKey.optional(),
  };
  const restOf = (body: Record<string, unknown>): Record<string, unknown> => {
    const rest = Object.entries(body).filter(([name]) => !Object.hasOwn(fields, name));
    return { ...Object.fromEntries(rest), ...(body['metadata'] as object | undefined) };
  };
  return z
    .object(fields)
    .catchall(z.unknown())
    .superRefine((body, ctx) => {
      const problem = findMetadataProblem(restOf(body));
      if (problem) ctx.addIssue({ code: 'custom', path: problem.path, message: problem.message });
    })
    .meta({
      id,
      description: `Fields that are not named here are stored as metadata, with the fields of \`metadata\`. ${METADATA_BOUNDS}`,
      override: {
        propertyNames: FIELD_NAME,
        maxProperties: Object.keys(fields).length + MAX_KEYS,
        additionalProperties: { $ref: '#/components/schemas/MetadataLevel4' },
      },
    })
    .transform((body) => {
      const rest = restOf(body);
      const given = body as z.output<z.ZodObject<Known>>;
      return { ...given, metadata: Object.keys(rest).length > 0 ? rest : null };
    });
}
