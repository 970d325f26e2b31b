import { z } from 'zod';

// The types of settings: each parses and checks the text of an environment variable.

/** `true` or `false`. */
export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');
/** A whole number. */
export const whole = z.coerce.number().int();
/** A time in milliseconds. */
export const milliseconds = whole.positive();
/** A port. */
export const port = whole.min(1).max(65_535);
/** A port; 0 takes a free one. */
export const portOrAny = whole.min(0).max(65_535);
/** Up to 20 pauses in seconds, separated by commas. */
export const seconds = z
  .string()
  .transform((list) => list.split(',').map(Number))
  .pipe(z.array(z.number().nonnegative()).max(20));

/** Up to 20 ascending days, separated by commas. */
export const days = z
  .string()
  .transform((list) => list.split(',').map(Number))
  .pipe(z.array(z.number().positive().max(90)).max(20))
  .refine(
    (list) => list.every((day, i) => i === 0 || day > Number(list[i - 1])),
    'must be in ascending order',
  );

/** A list that this function parses. Its error is the message of the setting. */
export const parsedBy = <T>(parse: (list: string) => T) =>
  z.string().transform((list, ctx): T => {
    try {
      return parse(list);
    } catch (error) {
      ctx.addIssue({ code: 'custom', message: (error as Error).message, input: null });
      return z.NEVER;
    }
  });

/** The headers of a list `name=value,…`. */
const headersOf = (list: string): Record<string, string> =>
  Object.fromEntries(
    list
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair.includes('='))
      .map((pair) => {
        const at = pair.indexOf('=');
        return [decodeURIComponent(pair.slice(0, at)), decodeURIComponent(pair.slice(at + 1))];
      }),
  );

/** A list of headers, `name=value,…`. */
export const headers = z.string().default('').transform(headersOf);
