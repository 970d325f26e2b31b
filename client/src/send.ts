import type { ErrorCode } from './api.js';
import { BursarError } from './errors.js';

/** A request with everything that decides about retries. */
export type Request = {
  url: string;
  method: string;
  headers: Headers;
  body: string | undefined;
  /** The request changes nothing. */
  safe: boolean;
  /** Repeating the request has no further effect. */
  repeatable: boolean;
  idempotencyKey: string | null;
  signal: AbortSignal | undefined;
  timeoutMs: number;
  maxRetries: number;
};

/** The parsed envelope of a successful answer, with its headers. */
export type Answer = { body: { data: unknown; pagination?: unknown }; headers: Headers };

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** The window of the rate limit. A longer Retry-After is returned as an error instead of waiting. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** Statuses that concern the caller and not the request: an earlier attempt may have been accepted. */
const INCONCLUSIVE_STATUSES = new Set([401, 403, 429]);

const isConclusive = ({ code, status }: BursarError) =>
  status !== null && code !== 'unreadable_answer' && !INCONCLUSIVE_STATUSES.has(status);

/**
 * Sends until an answer is final or all attempts are used. Throws the last error, with `outcomeUnknown` over all
 * attempts.
 */
export async function send(fetch: typeof globalThis.fetch, request: Request): Promise<Answer> {
  let unknown = false;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await once(fetch, request);
    if (!(answer instanceof BursarError)) return answer;
    unknown = answer.outcomeUnknown || (unknown && !isConclusive(answer));
    const delayMs =
      attempt < request.maxRetries ? delayBeforeRetry(request, answer, attempt) : null;
    if (delayMs === null) throw conclude(request, answer, unknown);
    const woken = await sleep(delayMs, request.signal);
    if (!woken) throw conclude(request, aborted(request), unknown);
  }
}

async function once(
  fetch: typeof globalThis.fetch,
  request: Request,
): Promise<Answer | BursarError> {
  const { url, method, headers, body, signal, timeoutMs } = request;
  if (signal?.aborted) return aborted(request);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers,
      // A redirect would turn a POST into a GET.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body !== undefined && { body }),
    });
    return read(response, await response.text());
  } catch (cause) {
    if (signal?.aborted) return aborted(request, true);
    const message = timeout.aborted ? `No answer within ${timeoutMs} ms.` : 'No answer.';
    return new BursarError({ code: 'no_answer', message, outcomeUnknown: true, cause });
  }
}

const aborted = ({ signal }: Request, outcomeUnknown = false) =>
  new BursarError({
    code: 'aborted',
    message: 'Aborted.',
    outcomeUnknown,
    cause: signal?.reason,
  });

type Envelope = {
  success?: unknown;
  data?: unknown;
  pagination?: unknown;
  error?: {
    code: ErrorCode;
    message: string;
    field?: string;
    details?: Record<string, unknown>;
  };
};

function read({ status, ok, headers }: Response, text: string): Answer | BursarError {
  const envelope = parse(text);
  if (ok && envelope?.success === true) {
    return { body: { data: envelope.data, pagination: envelope.pagination }, headers };
  }
  const refusal = ok ? undefined : envelope?.error;
  const { field, details } = refusal ?? {};
  return new BursarError({
    code: refusal?.code ?? 'unreadable_answer',
    message:
      refusal?.message ?? `The answer, with status ${status}, does not come from the service.`,
    status,
    field,
    details,
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: retryAfter(headers.get('retry-after')),
    // Includes 503, which the service also returns when the result of a commit was lost.
    outcomeUnknown: ok || status >= 500 || status === 408,
  });
}

function parse(text: string): Envelope | null {
  try {
    const value = JSON.parse(text) as Envelope | null;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Reads `Retry-After`, which is seconds or a date. */
function retryAfter(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^[0-9]+$/.test(header)
    ? Number(header)
    : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** Returns the delay before the next attempt, or null if there is none. */
function delayBeforeRetry(
  { repeatable }: Request,
  { code, status, outcomeUnknown, retryAfterSeconds }: BursarError,
  attempt: number,
): number | null {
  if (code === 'aborted') return null;
  // Only a 429 proves that nothing happened, so every request may be repeated after it.
  if (status !== 429 && !(outcomeUnknown && repeatable)) return null;
  const after = retryAfterSeconds ?? 0;
  if (after > LONGEST_RETRY_AFTER_SECONDS) return null;
  const most = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
  // Half of the delay is random, so that clients refused together do not retry together.
  return after * 1000 + most * (0.5 + Math.random() / 2);
}

/** Resolves with false if the signal cut the pause short. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve(signal?.aborted !== true);
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}

/** The error of the last attempt, extended by the outcome over all attempts. */
function conclude({ safe, idempotencyKey }: Request, last: BursarError, unknown: boolean) {
  const outcomeUnknown = unknown && !safe;
  const advice = idempotencyKey
    ? ' Whether it was done is unknown; the same call with the same idempotencyKey is safe.'
    : ' Whether it was done is unknown.';
  const { code, status, field, details, requestId, retryAfterSeconds, cause } = last;
  return new BursarError({
    code,
    message: outcomeUnknown ? last.message + advice : last.message,
    status,
    field,
    details,
    requestId,
    retryAfterSeconds,
    outcomeUnknown,
    idempotencyKey,
    cause,
  });
}
