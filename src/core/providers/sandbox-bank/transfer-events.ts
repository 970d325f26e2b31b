import type { CallbackReading } from '../transfer-provider.js';
import { hashOf, isAuthentic, parseJson } from './signed.js';
import { eventBody, paymentState, transferData } from './wire.js';

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
  if (!isAuthentic(secret, raw, headers, now)) return { kind: 'bad_signature' };
  const parsed = eventBody.safeParse(parseJson(raw));
  if (!parsed.success) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  const { id, event, occurred_at } = parsed.data;
  if (/^(charge|refund)\./.test(event)) return { kind: 'elsewhere', dedupeKey: id };
  const status = STATUS_OF_EVENT.get(event as 'transfer.paid');
  if (!status) return { kind: 'ignored', dedupeKey: id };
  const about = transferData.safeParse(parsed.data.data);
  if (!about.success) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  return {
    kind: 'callback',
    callback: {
      dedupeKey: id,
      reference: about.data.reference,
      state: paymentState(status, about.data),
      occurredAt: new Date(occurred_at),
    },
  };
}
