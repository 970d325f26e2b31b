import { createHmac } from 'node:crypto';

/** The header with the signature of a request. */
export const SIGNATURE_HEADER = 'x-sandbox-bank-signature';
/** The header with the time of a request, which is part of its signature. */
export const TIMESTAMP_HEADER = 'x-sandbox-bank-timestamp';

/**
 * Returns the hex HMAC-SHA512 over `<timestamp>.<raw body>`. The timestamp bounds how long a captured request can be
 * replayed.
 */
export function sign(secret: string, timestamp: string, rawBody: string): string {
  return createHmac('sha512', secret).update(`${timestamp}.${rawBody}`).digest('hex');
}
