import type { ErrorCode } from './api.js';

/** An error code of the service, or of a request without a valid answer. */
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

/** The error of a failed call. */
export class BursarError extends Error {
  readonly code: BursarErrorCode;
  /** Status of the last answer; null if there was none. */
  readonly status: number | null;
  /** The refused field as the caller sent it. */
  readonly field: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** Id of the request, for support by the operator of the service. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /**
   * True if the request may have been carried out. Never repeat it under another key then. Repeating the same call with
   * `idempotencyKey` is safe and returns the outcome.
   */
  readonly outcomeUnknown: boolean;
  /** The idempotency key of the call, including keys that the client generated. */
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

/** A webhook that must not be trusted. */
export class WebhookVerificationError extends Error {
  readonly reason: 'missing_header' | 'wrong_time' | 'wrong_signature' | 'unreadable_body';

  constructor(reason: WebhookVerificationError['reason'], message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.reason = reason;
  }
}
