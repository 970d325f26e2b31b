import type { Tenant } from '../tenants/tenant.js';
import type { z } from 'zod';
import { ApiError } from '../../shared/errors.js';
import { holdsCardNumber } from '../../shared/card-data.js';
import type { AppContext } from './context.js';
import { issueMessage } from './messages.js';

/** One invalid field: its path, a stable code, and a message. */
export type FieldIssue = { field: string; code: string; message: string };

/** Bounds the answer to a body with very many errors. */
const MAX_ISSUES = 100;
const MAX_PATH_LENGTH = 200;

/**
 * Returns the body in the schema's output type. Throws a `validation_error` that names the first invalid field and
 * lists all.
 */
export function validateBody<Schema extends z.ZodType>(
  schema: Schema,
  ctx: AppContext,
): z.output<Schema> {
  if (ctx.state.body?.json === undefined) throw new Error('this route is not behind jsonBody');
  return validate(schema, ctx.state.body.json, 'body');
}

/**
 * Returns the query in the schema's output type. A repeated parameter is refused, because programs differ in which
 * value they use.
 */
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

/**
 * Validates any value; `root` names it for errors that concern the whole. Bulk transfers validate their items with it.
 */
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

/** A `validation_error` in the same form, for rules that a schema cannot express. */
export function invalidField(field: string, code: string, message: string): ApiError {
  return invalidFields([{ field, code, message }]);
}

/** As `invalidField`, for all invalid fields of a request. The first one is named. */
export function invalidFields(issues: readonly FieldIssue[]): ApiError {
  return invalid(issues.map(({ field, code, message }) => issue(field.split('.'), code, message)));
}

function toIssues(found: z.core.$ZodIssue, root: string): FieldIssue[] {
  if (found.code === 'unrecognized_keys') {
    // The reported field is the unknown one, not the object that contains it.
    return found.keys.map((key) =>
      issue([...found.path, key], 'unknown_field', 'This field is not known.'),
    );
  }
  return [issue(found.path.length > 0 ? found.path : [root], found.code, found.message)];
}

function issue(path: readonly PropertyKey[], code: string, message: string): FieldIssue {
  // A field name that is a card number is hidden: clients log error messages.
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

/**
 * Returns the amount of a body. Throws a `validation_error` if it is outside the tenant's limits for one instruction. The
 * least amount is the tenant's, which is that of a transfer, unless the instruction has another one.
 */
export function amountWithin(
  { limits }: Tenant,
  body: { amount_minor: number },
  minMinor = limits.minMinor,
): bigint {
  const amountMinor = BigInt(body.amount_minor);
  const { maxMinor } = limits;
  if (amountMinor < minMinor) {
    throw invalidField('amount_minor', 'out_of_range', `must be at least ${minMinor}`);
  }
  if (amountMinor > maxMinor) {
    throw invalidField('amount_minor', 'out_of_range', `must be at most ${maxMinor}`);
  }
  return amountMinor;
}
