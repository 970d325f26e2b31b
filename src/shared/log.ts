import { createHash } from 'node:crypto';
import { pino, type DestinationStream, type LogFn, type Logger } from 'pino';

/** A structured logger that masks personal data and secrets. */
export type Log = Logger;

/**
 * Field names whose values never reach a log line, at any depth, compared without case, `_` and `-`: identifiers of
 * people and accounts, secrets, and free text from callers.
 */
const HIDDEN = new Set(
  [
    'authorization cookie set_cookie headers key api_key token secret password pepper signature pan cvv card_number',
    'account account_number account_name account_holder recipient recipient_account recipient_name',
    'destination_account_number destination_account_name name email phone bvn nin',
    'body raw_body bytes json narration metadata description',
  ].flatMap((line) => line.split(' ').map(canonical)),
);
const MASK = '[redacted]';
const MAX_DEPTH = 6;

/**
 * Creates a JSON logger. `debugSample` is the share of records and requests whose debug lines are written, from 0 to 1.
 * `destination` is for tests; the default is standard output, written without blocking the event loop.
 */
export function createLog({
  level,
  name,
  debugSample = 1,
  destination = pino.destination({ fd: 1, sync: false }),
}: {
  level: string;
  name: string;
  debugSample?: number;
  destination?: DestinationStream;
}): Log {
  return pino(
    {
      level,
      name,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      hooks: {
        logMethod(args, method, of) {
          const [fields] = args as unknown[];
          if (of === DEBUG && !isSampled(fields, debugSample)) return;
          maskErrorMessage.call(this, args, method);
        },
      },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => hideFields(fields, 0) as Record<string, unknown>,
      },
    },
    destination,
  );
}

const DEBUG = 20;
/** The fields by which debug lines belong together. */
const SAMPLED_BY = ['resource', 'request_id', 'workflow_id'];

/** True if the debug line is written: all lines of one record or request, or none of them. */
function isSampled(fields: unknown, share: number): boolean {
  if (share >= 1) return true;
  const line = typeof fields === 'object' ? (fields as Record<string, unknown> | null) : null;
  const id = SAMPLED_BY.map((name) => line?.[name]).find((each) => typeof each === 'string');
  if (typeof id !== 'string') return Math.random() < share;
  return createHash('sha256').update(id).digest().readUInt32BE(0) < share * 2 ** 32;
}

/** pino uses the error's own message, unmasked, for a line that has no message. */
function maskErrorMessage(this: Log, args: Parameters<LogFn>, method: LogFn): void {
  const [first, ...rest] = args as unknown[];
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err;
  if (!(error instanceof Error)) return method.apply(this, args);
  const fields = first instanceof Error ? { err: error } : first;
  const texts = rest.length > 0 ? rest : [maskText(error.message)];
  return method.apply(this, [fields, ...texts] as Parameters<LogFn>);
}

/**
 * The fields of an error that are logged: enough to find the fault, and nothing of the request. MongoDB puts offending
 * values into its messages (duplicate key, failed validation), so texts are masked and detail fields are left out.
 */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: maskText(error.message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    stack: maskText(error.stack ?? ''),
    ...(error.cause !== undefined &&
      depth < MAX_DEPTH && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** Masks API keys, credentials in URLs, values that MongoDB quotes, and digit runs that could be account numbers. */
function maskText(text: string): string {
  return text
    .replaceAll(/\b([sp]k_(?:sandbox|live)_)[0-9A-Za-z]+/g, `$1${MASK}`)
    .replaceAll(/\bBearer\s+\S+/gi, `Bearer ${MASK}`)
    .replaceAll(/:\/\/[^@/\s]+@/g, `://${MASK}@`)
    .replaceAll(/dup key: .*$/gm, `dup key: ${MASK}`)
    .replaceAll(/\d{9,}/g, '[digits]');
}

function hideFields(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (value instanceof Error) return describeError(value);
  // Deeper levels are masked: a log line stays short.
  if (depth === MAX_DEPTH || ArrayBuffer.isView(value)) return MASK;
  if (Array.isArray(value)) return value.map((item) => hideFields(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      // `err` is masked by its serializer, which runs later.
      if (depth === 0 && name === 'err') return [name, item];
      return [name, HIDDEN.has(canonical(name)) ? MASK : hideFields(item, depth + 1)];
    }),
  );
}

function canonical(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
