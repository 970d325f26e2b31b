import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-sandbox-bank-signature';
export const TIMESTAMP_HEADER = 'x-sandbox-bank-timestamp';

/** Hex HMAC-SHA512 over `<timestamp>.<raw body>`, so that a caught request can't be sent again at another time. */
export function sign(secret: string, timestamp: string, rawBody: string): string {
  return createHmac('sha512', secret).update(`${timestamp}.${rawBody}`).digest('hex');
}
