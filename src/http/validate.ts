import type { z } from 'zod';
import { ApiError } from '../errors.js';
import { holdsCardNumber } from '../metadata.js';
import type { AppContext } from './context.js';
import { issueMessage } from './messages.js';

export type FieldIssue = { field: string; code: string; message: string };

/** Bounds the answer to a body that is nothing but mistakes. */
const MAX_ISSUES = 100;
const MAX_PATH_LENGTH = 200;

/** The body in the schema's output type. Throws `validation_error` naming the first offending field, and listing all. */
export function validateBody<Schema extends z.ZodType>(
  schema: Schema,
  ctx: AppContext,
): z.output<Schema> {
  if (ctx.state.body?.json === undefined) throw new Error('this route is not behind jsonBody');
  return validate(schema, ctx.state.body.json, 'body');
}

/** The query in the schema's output type. A parameter given twice is refused: readers differ in which one counts. */
export function validateQuery<Schema extends z.ZodType>(
  schema: Schema,
  ctx: AppContext,
): z.output<Schema> {
  const repeated = Object.entries(ctx.query)
    .filter(([, value]) => Array.isArray(value))
    .map(([name]) => issue([name], 'repeated', 'This parameter must be given only once.'));
  if (repeated.length > 0) throw invalid(repeated);
  return validate(schema, { ...ctx.query }, 'query');
}

/** Checks any value; `root` names what is checked, for what is wrong with it as a whole. Bulk items use it directly. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: string,
  maxIssues = MAX_ISSUES,
): z.output<Schema> {
  const parsed = schema.safeParse(value, {
    error: issueMessage,
  });
  if (parsed.success) return parsed.data;
  throw invalid(
    parsed.error.issues.flatMap((found) => toIssues(found, root)),
    maxIssues,
  );
}

/** A `validation_error` for what no schema can say, in the same form. */
export function invalidField(field: string, code: string, message: string): ApiError {
  return invalid([issue(field.split('.'), code, message)]);
}

function toIssues(found: z.core.$ZodIssue, root: string): FieldIssue[] {
  if (found.code === 'unrecognized_keys') {
    // The field at fault is the unknown one itself, not the object that it is in.
    return found.keys.map((key) =>
      issue([...found.path, key], 'unknown_field', 'This field is not known.'),
    );
  }
  return [issue(found.path.length > 0 ? found.path : [root], found.code, found.message)];
}

function issue(path: readonly PropertyKey[], code: string, message: string): FieldIssue {
  // A name that is a card number is not told: it would be in logs before long.
  const names = path.map((part) => (holdsCardNumber(String(part)) ? '…' : String(part)));
  return { field: names.join('.').slice(0, MAX_PATH_LENGTH), code, message };
}

function invalid(issues: FieldIssue[], maxIssues = MAX_ISSUES): ApiError {
  const first = issues[0];
  return new ApiError('validation_error', {
    ...(first && { field: first.field, message: `The request is not valid: ${first.message}` }),
    details: { issues: issues.slice(0, maxIssues) },
  });
}
