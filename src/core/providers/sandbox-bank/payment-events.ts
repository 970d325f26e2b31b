import { z } from 'zod';
import type { PaymentEvent } from '../payment-provider.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import { chargeAnswer, chargeState, refundAnswer, refundOf } from './payment-wire.js';
import { eventBody, IRRELEVANT_EVENTS, nameOf } from './wire.js';

type About = Pick<PaymentEvent, 'charge' | 'about'>;

/** The status that the charge or refund must have, by the name of the event. */
const STATUS_OF_EVENT = new Map([
  ['charge.pending', 'pending'],
  ['charge.paid', 'paid'],
  ['charge.declined', 'declined'],
  ['charge.abandoned', 'abandoned'],
  ['refund.pending', 'pending'],
  ['refund.refunded', 'refunded'],
  ['refund.refused', 'refused'],
  ['refund.returned', 'returned'],
]);

/** The fields of the network's messages that hold nothing of a customer. An authorization code is a secret. */
export const PAYMENT_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  occurred_at: 'value',
  reference: 'value',
  status: 'value',
  paid_minor: 'value',
  fee_minor: 'value',
  amount_minor: 'value',
  currency: 'value',
  code: 'value',
  decline: 'value',
  refund: 'value',
  charge: 'value',
  merchant_note: 'own_id',
};

/** Reads an authentic message of the payment network. Never throws. */
export function readPaymentMessage(
  body: unknown,
  hash: () => string,
): MessageReading<PaymentEvent> {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return { kind: 'unreadable', dedupeKey: hash(), name: nameOf(body) };
  const { id: dedupeKey, event: name, occurred_at, data } = parsed.data;
  if (/^(transfer|check)\./.test(name)) return { kind: 'other_port', dedupeKey, name };
  if (IRRELEVANT_EVENTS.has(name)) return { kind: 'irrelevant', dedupeKey, name };
  const status = STATUS_OF_EVENT.get(name);
  if (status === undefined) return { kind: 'unreadable', dedupeKey, name };
  const found = name.startsWith('charge.') ? readCharge(data, status) : readRefund(data, status);
  // By its hash: the provider may send the event again under the same id, corrected.
  if (!found) return { kind: 'unreadable', dedupeKey: hash(), name };
  const occurredAt = new Date(occurred_at);
  return { kind: 'event', event: { dedupeKey, name, ...found, occurredAt } };
}

/** Reads the masked copy of such a message. The code of an authorization is not in it, so the payment alone is read. */
export function readStoredPaymentMessage(message: unknown): MessageReading<PaymentEvent> {
  const paid = z.looseObject({ data: z.looseObject({ authorization: z.unknown() }) });
  const parsed = paid.safeParse(message);
  if (!parsed.success) return readPaymentMessage(message, () => '');
  const data = { ...parsed.data.data, authorization: null };
  return readPaymentMessage({ ...parsed.data, data }, () => '');
}

function readCharge(data: unknown, status: string): About | null {
  const parsed = chargeAnswer.safeParse(data);
  if (!parsed.success || parsed.data.status !== status) return null;
  const about = { subject: 'charge', state: chargeState(parsed.data) } as const;
  return { charge: parsed.data.reference, about };
}

function readRefund(data: unknown, status: string): About | null {
  const parsed = refundAnswer.safeParse(data);
  if (!parsed.success || parsed.data.status !== status) return null;
  const about = { subject: 'refund', refund: refundOf(parsed.data) } as const;
  return { charge: parsed.data.charge, about };
}
