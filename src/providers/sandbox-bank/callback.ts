import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { CallbackReading } from '../provider.js';
import { callbackBody, paymentState } from './wire.js';

/** How old a signature may be. The bank signs every delivery anew, so this bounds replays, not retries. */
const TOLERANCE_MS = 5 * 60 * 1000;

const STATUS_OF_EVENT = new Map([
  ['transfer.paid', 'paid'],
  ['transfer.refused', 'refused'],
  ['transfer.reversed', 'reversed'],
  ['transfer.pending', 'pending'],
] as const);

/** Reads a callback; header names in lower case. Never throws, whatever it is given. */
export function readSandboxBankCallback(
  secret: string,
  raw: Buffer,
  headers: Record<string, string | undefined>,
  now: Date,
): CallbackReading {
  const timestamp = headers['x-sandbox-bank-timestamp'] ?? '';
  const signature = headers['x-sandbox-bank-signature'] ?? '';
  if (!isFresh(timestamp, now) || !isSigned(secret, timestamp, raw, signature)) {
    return { kind: 'bad_signature' };
  }
  const parsed = callbackBody.safeParse(parseJson(raw));
  if (!parsed.success) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  const { id, event, occurred_at, data } = parsed.data;
  const status = STATUS_OF_EVENT.get(event as 'transfer.paid');
  if (!status) return { kind: 'ignored', dedupeKey: id };
  return {
    kind: 'callback',
    callback: {
      dedupeKey: id,
      reference: data.reference,
      state: paymentState(status, data),
      occurredAt: new Date(occurred_at),
    },
  };
}

function isFresh(timestamp: string, now: Date): boolean {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  return Math.abs(now.getTime() - Number(timestamp) * 1000) <= TOLERANCE_MS;
}

/** Hex HMAC-SHA512 over `<timestamp>.<raw body>`, compared in constant time. */
function isSigned(secret: string, timestamp: string, raw: Buffer, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/.test(signature)) return false;
  const expected = createHmac('sha512', secret).update(`${timestamp}.`).update(raw).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}

function hashOf(raw: Buffer): string {
  return createHash('sha256').update(raw).digest('hex');
}
