import { z } from 'zod';

/**
 * Fields of Paystack's bodies. A field that money depends on is read strictly, in each of the forms that Paystack uses for
 * it; any other field that has an unexpected form is read as absent.
 */

const digits = z.string().regex(/^[0-9]{1,16}$/);

/** An amount in kobo. Some events and some failed transactions write it as a string. */
export const amount = z
  .union([z.int().min(0), digits.transform(Number).pipe(z.int())])
  .transform((value) => BigInt(value));

/** An amount that may be missing, also in the form of another type. */
export const optionalAmount = amount.nullish().catch(null);

/** ISO 4217. */
export const currency = z.string().regex(/^[A-Z]{3}$/);

/** A reference, ours or another's. */
export const reference = z.string().min(1).max(200);

/** Paystack's numeric id of a record, which some bodies write as a string, as text. */
export const numericId = z
  .union([z.int().min(1), z.string().regex(/^[0-9]{1,20}$/)])
  .transform(String);

/** An id in a body that may not have one. */
export const optionalId = numericId.nullish().catch(null);

/** A code that Paystack gives to a record, such as `TRF_…`. */
export const recordCode = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9A-Za-z]{1,64}$`));

/** A status word. The pattern keeps free text out of it. */
export const word = z.string().regex(/^[A-Za-z][A-Za-z_ -]{0,39}$/);

/** The environment of a record. Some bodies have none. */
export const domain = z.enum(['test', 'live']).nullish();

/** An identifier that tenants see; anything else is read as absent. */
export const identifier = z
  .string()
  .regex(/^[0-9A-Za-z-]{1,64}$/)
  .nullish()
  .catch(null);

/** A free text that is compared with a table and never kept. */
export const text = z.string().nullish().catch(null);

/** An e-mail address. The masked copy of one is none. */
export const email = z
  .string()
  .regex(/^[^@\s]+@[^@\s]+$/)
  .max(320);

/** A time in either form of its name. */
export const time = z.iso.datetime({ offset: true }).nullish().catch(null);

/** A text as the tables have it: lower case, trimmed, without a final full stop. */
export const plain = (text: string | null | undefined): string =>
  (text ?? '').trim().toLowerCase().replace(/\.$/, '').trim();

/** The time in a field, or null. */
export const dateOf = (...times: (string | null | undefined)[]): Date | null => {
  const found = times.find((each) => typeof each === 'string');
  return found === undefined || found === null ? null : new Date(found);
};

/** A code of Paystack's, if it looks like one. */
export const wordOf = (code: string): { word?: string } =>
  /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(code) && !/[0-9]{6}/.test(code) ? { word: code } : {};
