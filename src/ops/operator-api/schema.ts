import { z } from 'zod';
import { invalidField } from '../../platform/http/validate.js';
import { MAX_AMOUNT_MINOR, plainText } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import { idSchema } from '../../shared/ids.js';

/** Length of a list. A longer one has filters. */
export const LISTED = 100;

/** The fields of a record as its capability presents them to operators. */
export const printed = z.record(z.string(), z.json());
/** A list of such records. */
export const printedList = z.array(printed);

/** An amount in kobo in a body. */
export const amount = z.int().min(1).max(MAX_AMOUNT_MINOR);
/** The reason of an act, which the audit log keeps. */
export const reason = plainText(500).meta({
  description: 'The reason, which the audit log keeps.',
});
/** The body of an act that needs nothing but, if given, a reason. */
export const reasonBody = z.strictObject({ reason: reason.optional() });
/** A flag in a query. */
export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');
/** The id of a tenant in a path or a body. An unknown one is refused later. */
export const tenantId = idSchema('tenant').or(plainText(100));
/** Any id in a path. An unknown one is refused later. */
export const anyId = plainText(200);

/** The refusal for a target that does not exist. */
export const noSuch = (name: string) =>
  new ApiError('not_found', { message: `There is no such ${name}.` });

/** Returns the target of a request, or refuses the request if there is none. */
export async function existing<T>(target: Promise<T | null>, name: string): Promise<T> {
  const found = await target;
  if (!found) throw noSuch(name);
  return found;
}

/** A refusal that names a field. */
export const refuseField = (field: string, message: string) =>
  invalidField(field, 'invalid', message);
