import { createProviderHttp, type ProviderHttp, type Reply } from '../http.js';
import type { ResendSafety, UnknownReason } from '../port.js';
import { errorAnswer } from './wire.js';

/** The bank accepts a time that is this far ahead of its own, so a request stays valid that much longer. */
const CLOCK_AHEAD_MS = 250;
/** The least pause after a 429, also if the provider names none. */
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;

/** The settings of the sandbox bank's adapters. */
export type SandboxBankOptions = {
  url: string;
  /** Authenticates our requests, and verifies the bank's messages. */
  secret: string;
  /** Verify messages too, while secrets are exchanged. */
  earlierSecrets?: readonly string[];
  /** Is told of the secret that has verified a message. */
  onVerified?: (secret: string) => void;
  /** True if the bank executes a repeated request once. If not, it refuses requests older than `conclusiveAfterMs`. */
  deduplicates: boolean;
  /** The bank recognizes a repeat for this long, and then refuses old requests too; null means without end. */
  deduplicatesForMs: number | null;
  conclusiveAfterMs: number;
  /** The time within which the issuer must be answered; 1.5 s if missing. */
  decisionDeadlineMs?: number;
  /** Takes precedence over `deduplicates`. */
  resendSafety?: ResendSafety['kind'] | null;
  /** Recipients are prepared before a transfer. */
  prepares?: boolean;
  /** The party that holds the balances of cards; the issuer if missing. */
  cardBalances?: 'issuer' | 'ours';
  /** The party that keeps changes of a card's state in order; the issuer if missing. */
  cardStateSequence?: 'issuer' | 'ours';
  /** `id`: the issuer finds cards, fundings and disputes by its own ids alone. */
  cardLookup?: 'reference' | 'id';
  /** Bound of one call, from the first byte to the last. */
  timeoutMs: number;
  callsPerSecond: number;
  /** The rate of submissions of transfers, if it is one of its own. */
  submissionsPerSecond?: number | null;
  /** `new_reference`: the bank gives the address of a page once. */
  pages?: 'repeatable' | 'new_reference';
};

/** The HTTP client of the sandbox bank. */
export const bankHttp = ({ url, secret, timeoutMs }: SandboxBankOptions): ProviderHttp =>
  createProviderHttp({ url, timeoutMs, headers: { authorization: `Bearer ${secret}` } });

/** The resend safety of the sandbox bank, which its settings decide. */
export function resendSafetyOf({
  deduplicates,
  deduplicatesForMs: forMs,
  conclusiveAfterMs,
  resendSafety,
}: SandboxBankOptions): ResendSafety {
  const requestLivesMs = conclusiveAfterMs + CLOCK_AHEAD_MS;
  const kind = resendSafety ?? (deduplicates ? 'idempotent' : 'conclusive_after');
  if (kind === 'fence' || kind === 'never') return { kind };
  if (kind === 'conclusive_after') return { kind, ms: requestLivesMs };
  // A repeat may arrive as late as its age allows, and must still be recognized then.
  return {
    kind: 'idempotent',
    forMs: forMs === null ? null : Math.max(0, forMs - requestLivesMs),
  };
}

/** The settings of a port that cannot cancel, and of one whose requests the bank does not recognize. */
export const withoutFence = (options: SandboxBankOptions): SandboxBankOptions => {
  const { resendSafety: kind = null, deduplicates } = options;
  if (kind === 'fence') return { ...options, resendSafety: 'never' };
  return kind === 'idempotent' && !deduplicates ? { ...options, resendSafety: null } : options;
};

/**
 * Reads the reply to a request that moves money. Only `read`, which parses a success, reports that something was done: no
 * other reply is conclusive. A conflict is not conclusive either: the bank has this reference already.
 */
export function readSubmitReply<State>(reply: Reply, read: (body: unknown) => State) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown' as const, reason: reply.reason };
  if (reply.status === 200 || reply.status === 201) return { ...trace, ...read(reply.body) };
  if (reply.status === 429) return { ...trace, ...throttled(reply) };
  return { ...trace, kind: 'unknown' as const, reason: refusalReason(reply) };
}

function refusalReason({ status, body }: { status: number; body: unknown }): UnknownReason {
  if (status === 409) return 'conflict';
  const tooOld = status === 422 && ['too_old', 'too_early'].includes(errorCode(body));
  return tooOld ? 'too_old' : 'unreadable';
}

/**
 * Reads the reply to a query. A bare 404 may come from a wrong address or a proxy, and "not found" can cause another
 * submission, so only a 404 with the code `absent` counts as "not found".
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

/** Reads the reply to a query that always has an answer. */
export function readReply<State>(reply: Reply, read: (body: unknown) => State) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown' as const, reason: reply.reason };
  if (reply.status === 200) return { ...trace, ...read(reply.body) };
  return { ...trace, kind: 'unknown' as const, reason: reasonOf(reply.status) };
}

/** The answer to a body that can't be read. */
export function unreadable() {
  return { kind: 'unknown' as const, reason: 'unreadable' as const };
}

/** The answer with a word that is not known here. */
export function unrecognized() {
  return { kind: 'unknown' as const, reason: 'unrecognized' as const };
}

/** The answer to a 429, with a pause of at least a second. */
export function throttled({ headers }: Extract<Reply, { kind: 'answer' }>) {
  return { kind: 'throttled' as const, retryAfterMs: retryAfterMs(headers['retry-after']) };
}

/** The reason why a reply without a usable body leaves the outcome unknown. */
export function reasonOf(status: number): UnknownReason {
  return status === 429 ? 'throttled' : 'unreadable';
}

/** The bank's error code in a body, or an empty string. */
export function errorCode(body: unknown): string {
  const parsed = errorAnswer.safeParse(body);
  return parsed.success ? parsed.data.error.code : '';
}

function retryAfterMs(header: string | undefined): number {
  if (header === undefined || !/^[0-9]{1,9}$/.test(header.trim())) return MIN_RETRY_AFTER_MS;
  return Math.max(MIN_RETRY_AFTER_MS, Math.min(Number(header) * 1000, MAX_RETRY_AFTER_MS));
}
