import type { Absence, UnknownReason } from '../transfer-provider.js';
import type { Reply } from './http.js';
import { errorAnswer } from './wire.js';

/** The bank takes a time that is this far ahead of its own, so an order can live that much longer. */
const CLOCK_AHEAD_MS = 250;
/** Also where the provider names no pause, or none: throttled is never "at once". */
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;

export type SandboxBankOptions = {
  url: string;
  secret: string;
  /** How the bank runs: whether it does a repeated order once, and if not, from what age it refuses one. */
  deduplicates: boolean;
  conclusiveAfterMs: number;
  /** Bound of one call, from the first byte to the last. */
  timeoutMs: number;
  callsPerSecond: number;
};

export function absenceOf({ deduplicates, conclusiveAfterMs }: SandboxBankOptions): Absence {
  return deduplicates
    ? { kind: 'idempotent' }
    : { kind: 'conclusive_after', ms: conclusiveAfterMs + CLOCK_AHEAD_MS };
}

/**
 * What the bank did with an order. `read` reads its answer, and is the only one to say that something was done: no
 * other answer is conclusive. Also a conflict is not: it means that the bank has this reference already.
 */
export function readOrder<State>(reply: Reply, read: (body: unknown) => State) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown' as const, reason: reply.reason };
  if (reply.status === 200 || reply.status === 201) return { ...trace, ...read(reply.body) };
  if (reply.status === 429) return { ...trace, ...throttled(reply) };
  const tooOld = reply.status === 422 && ['too_old', 'too_early'].includes(errorCode(reply.body));
  const reason: UnknownReason = tooOld ? 'too_old' : 'unreadable';
  return { ...trace, kind: 'unknown' as const, reason };
}

/**
 * What the bank knows of something. A bare 404 may come from a wrong address or a proxy, and "not found" can let money
 * go out again: only `absent` is believed.
 */
export function readLookup<State>(reply: Reply, absent: string, read: (body: unknown) => State) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown' as const, reason: reply.reason };
  if (reply.status === 200) return { ...trace, ...read(reply.body) };
  if (reply.status === 404 && errorCode(reply.body) === absent) {
    return { ...trace, kind: 'not_found' as const };
  }
  return { ...trace, kind: 'unknown' as const, reason: reasonOf(reply.status) };
}

export function unreadable() {
  return { kind: 'unknown' as const, reason: 'unreadable' as const };
}

export function throttled({ retryAfter }: { retryAfter: string | null }) {
  return { kind: 'throttled' as const, retryAfterMs: retryAfterMs(retryAfter) };
}

export function reasonOf(status: number): UnknownReason {
  return status === 429 ? 'throttled' : 'unreadable';
}

export function errorCode(body: unknown): string {
  const parsed = errorAnswer.safeParse(body);
  return parsed.success ? parsed.data.error.code : '';
}

function retryAfterMs(header: string | null): number {
  if (header === null || !/^[0-9]{1,9}$/.test(header.trim())) return MIN_RETRY_AFTER_MS;
  return Math.max(MIN_RETRY_AFTER_MS, Math.min(Number(header) * 1000, MAX_RETRY_AFTER_MS));
}
