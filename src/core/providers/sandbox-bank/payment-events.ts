import type { PaymentEvent, PaymentEventReading } from '../payment-provider.js';
import { chargeAnswer, chargeState, refundAnswer, refundOf } from './payment-wire.js';
import { hashOf, isAuthentic, parseJson } from './signed.js';
import { eventBody } from './wire.js';

type Told = Pick<PaymentEvent, 'charge' | 'about'>;

/** By the name of the event: how what it is about must stand. */
const STATUS_OF_EVENT = new Map([
  ['charge.pending', 'pending'],
  ['charge.paid', 'paid'],
  ['charge.declined', 'declined'],
  ['charge.abandoned', 'abandoned'],
  ['refund.pending', 'pending'],
  ['refund.refunded', 'refunded'],
  ['refund.refused', 'refused'],
]);

/** Reads what came in on the payments webhook; header names in lower case. Never throws, whatever it is given. */
export function readSandboxBankPaymentEvent(
  secret: string,
  raw: Buffer,
  headers: Record<string, string | undefined>,
  now: Date,
): PaymentEventReading {
  if (!isAuthentic(secret, raw, headers, now)) return { kind: 'bad_signature' };
  const parsed = eventBody.safeParse(parseJson(raw));
  if (!parsed.success) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  const { id: dedupeKey, event: name, occurred_at, data } = parsed.data;
  if (name.startsWith('transfer.')) return { kind: 'elsewhere', dedupeKey };
  const status = STATUS_OF_EVENT.get(name);
  if (status === undefined) return { kind: 'ignored', dedupeKey };
  const told = name.startsWith('charge.') ? readCharge(data, status) : readRefund(data, status);
  if (!told) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  const occurredAt = new Date(occurred_at);
  return { kind: 'event', event: { dedupeKey, name, ...told, occurredAt } };
}

function readCharge(data: unknown, status: string): Told | null {
  const parsed = chargeAnswer.safeParse(data);
  if (!parsed.success || parsed.data.status !== status) return null;
  const about = { subject: 'charge', state: chargeState(parsed.data) } as const;
  return { charge: parsed.data.reference, about };
}

function readRefund(data: unknown, status: string): Told | null {
  const parsed = refundAnswer.safeParse(data);
  if (!parsed.success || parsed.data.status !== status) return null;
  const about = { subject: 'refund', refund: refundOf(parsed.data) } as const;
  return { charge: parsed.data.charge, about };
}
