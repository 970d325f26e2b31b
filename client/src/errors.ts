import type { ErrorCode } from './api.js';

/** A code of the service, or what became of a request that got no answer of its. */
export type BursarErrorCode = ErrorCode | 'no_answer' | 'unreadable_answer' | 'aborted';

type Facts = {
  code: BursarErrorCode;
  message: string;
  status?: number | null;
  field?: string | undefined;
  details?: Record<string, unknown> | undefined;
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  outcomeUnknown?: boolean;
  idempotencyKey?: string | null;
  cause?: unknown;
};

/** Whatever keeps a call from its result. */
export class BursarError extends Error {
  readonly code: BursarErrorCode;
  /** Of the last answer; null if there was none. */
  readonly status: number | null;
  /** The field that is refused, as you wrote it. */
  readonly field: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** Names the request to whoever runs the service. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /**
   * True if what you asked for may have happened all the same. Never ask again under another key then: the same call
   * with `idempotencyKey` is safe, and finds out.
   */
  readonly outcomeUnknown: boolean;
  /** The key that the call had, also if the client made it. */
  readonly idempotencyKey: string | null;

  constructor(facts: Facts) {
    super(facts.message, { cause: facts.cause });
    this.name = 'BursarError';
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.field = facts.field;
    this.details = facts.details;
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.outcomeUnknown = facts.outcomeUnknown ?? false;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }
}

/** A webhook that must not be believed. */
export class WebhookVerificationError extends Error {
  readonly reason: 'missing_header' | 'wrong_time' | 'wrong_signature' | 'unreadable_body';

  constructor(reason: WebhookVerificationError['reason'], message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.reason = reason;
  }
}
