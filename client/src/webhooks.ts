import type { WebhookEvent } from './api.js';
import { WebhookVerificationError } from './errors.js';

/** The headers of a webhook request, as any HTTP library has them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verifies a webhook and returns its event; rejects with `WebhookVerificationError` if it was not sent by Bursar or was
 * changed. The body must be the raw body, before any parsing. While a secret is rotated, pass both secrets. The
 * signature follows Standard Webhooks; `verify` of Web Crypto compares in constant time.
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  { toleranceSeconds = TOLERANCE_SECONDS }: { toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    header(headers, `webhook-${name}`),
  );
  if (!id || !time || !signatures) {
    throw new WebhookVerificationError('missing_header', 'A webhook-… header is missing.');
  }
  const age = Date.now() / 1000 - Number(/^[0-9]+$/.test(time) ? time : NaN);
  if (!(Math.abs(age) <= toleranceSeconds)) {
    throw new WebhookVerificationError('wrong_time', 'The timestamp is too old or in the future.');
  }
  const text = new TextEncoder();
  const body = typeof rawBody === 'string' ? text.encode(rawBody) : rawBody;
  const head = text.encode(`${id}.${time}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  for (const key of typeof secret === 'string' ? [secret] : secret) {
    if (await isSignedBy(await importKey(key), signatures, signed)) return parse(body);
  }
  throw new WebhookVerificationError('wrong_signature', 'No signature matches the secret.');
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

function importKey(secret: string) {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes?.length) throw new TypeError('secret must be the whsec_… value from the operator');
  return crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify']);
}

async function isSignedBy(
  key: Awaited<ReturnType<typeof importKey>>,
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const each of signatures.split(' ')) {
    const signature = each.startsWith('v1,') ? fromBase64(each.slice('v1,'.length)) : null;
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true;
  }
  return false;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function parse(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('unreadable_body', 'The body is not JSON.');
  }
}
