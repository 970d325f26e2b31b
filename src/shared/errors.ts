/**
 * The catalogue of error codes: each with its HTTP status and public message. A message never contains a value from the
 * request. The internal reason is kept as `cause` and is only logged.
 */
export const ERRORS = {
  unauthorized: [401, 'A valid API key is required: send Authorization: Bearer <key>.'],
  invalid_key: [401, 'The API key is malformed.'],
  expired_key: [401, 'The API key has expired or was revoked.'],
  wrong_environment: [401, 'This API key belongs to the other environment.'],
  invalid_signature: [401, 'The signature of this message is missing or wrong.'],
  forbidden: [403, 'This API key does not have the right to do this.'],
  ip_not_allowed: [403, 'This API key may not be used from this address.'],
  feature_not_enabled: [403, 'This feature is not enabled for this account.'],
  not_found: [404, 'There is no such resource.'],
  method_not_allowed: [405, 'This path does not support this method.'],
  payload_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'Send the body as application/json in UTF-8.'],
  validation_error: [400, 'The request is not valid.'],
  insufficient_balance: [422, 'The wallet balance is lower than the amount plus the fee.'],
  invalid_account: [422, 'The recipient account was not found.'],
  limit_exceeded: [422, 'The daily transfer limit would be exceeded.'],
  duplicate_reference: [422, 'This reference was used before.'],
  idempotency_key_reused: [422, 'This idempotency key was used for a different request.'],
  invalid_state: [422, 'The resource is in a state that does not allow this.'],
  provider_declined: [422, 'The provider declined the request.'],
  rate_limit_exceeded: [429, 'Too many requests.'],
  internal_error: [500, 'Something went wrong on our side.'],
  service_unavailable: [
    503,
    'The service cannot take this request now. Nothing is lost: try again.',
  ],
} as const satisfies Record<string, readonly [number, string]>;

/** The message of a 503 for a request that may have been carried out, or may still be. */
export const OUTCOME_UNKNOWN =
  'The outcome is not known yet: repeat the request with the same key.';

/** A code that clients can receive; published, so never renamed. */
export type ErrorCode = keyof typeof ERRORS;

/** Details of one error. All but `cause` are visible to the client. */
type ErrorExtra = {
  message?: string;
  /** Path of the offending field as the client sent it: `recipient_account`, `metadata.order`. */
  field?: string;
  details?: Record<string, unknown>;
  /** Sets the header `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
};

/** The one type of error that reaches a client. Any other thrown value becomes `internal_error`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, extra: ErrorExtra = {}) {
    const [status, message] = ERRORS[code];
    super(extra.message ?? message, { cause: extra.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.field = extra.field;
    this.details = extra.details;
    this.retryAfterSeconds = extra.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  }
}

/** The error envelope, used for errors that are rendered and for refusals that are saved as responses. */
export function errorBody(error: ApiError): { success: false; error: Record<string, unknown> } {
  return {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      status: error.status,
      ...(error.field !== undefined && { field: error.field }),
      ...(error.details !== undefined && { details: error.details }),
    },
  };
}
