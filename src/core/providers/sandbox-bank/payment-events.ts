import { z } from 'zod';
import type { PaymentEvent } from '../payment-provider.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import {
  chargeAnswer,
  chargeState,
  disputeAnswer,
  disputeOf,
  oursOf,
  refundAnswer,
  refundOf,
  setupAnswer,
  setupState,
} from './payment-wire.js';
import { readEnvelope } from './envelope.js';

type About = Pick<PaymentEvent, 'reference' | 'about'>;

/** The status that the data of an event must have, by its name, and how they are read. */
const READERS = new Map<string, { status: string; read: (data: unknown) => About | null }>([
  ['charge.pending', { status: 'pending', read: readCharge }],
  ['charge.paid', { status: 'paid', read: readCharge }],
  ['charge.declined', { status: 'declined', read: readCharge }],
  ['charge.abandoned', { status: 'abandoned', read: readCharge }],
  ['charge.cancelled', { status: 'cancelled', read: readCharge }],
  ['charge.disputed', { status: 'opened', read: readDispute }],
  ['charge.dispute_won', { status: 'won', read: readDispute }],
  ['charge.dispute_lost', { status: 'lost', read: readDispute }],
  ['refund.pending', { status: 'pending', read: readRefund }],
  ['refund.needs_account', { status: 'needs_account', read: readRefund }],
  ['refund.refunded', { status: 'refunded', read: readRefund }],
  ['refund.refused', { status: 'refused', read: readRefund }],
  ['refund.returned', { status: 'returned', read: readRefund }],
  ['setup.saved', { status: 'saved', read: readSetup }],
  ['setup.declined', { status: 'declined', read: readSetup }],
  ['setup.cancelled', { status: 'cancelled', read: readSetup }],
]);

/** The fields of the network's messages that hold nothing of a customer. An authorization code is a secret. */
export const PAYMENT_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  environment: 'value',
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
  surcharge_minor: 'value',
  dispute: 'value',
  funds: 'value',
  reason: 'value',
  due_at: 'value',
};

/** The events of other ports, which have the same address. */
const OTHER_PORTS = /^(transfer|check|bill|account|deposit)\./;

/** Reads an authentic message of the payment network. Never throws. */
export function readPaymentMessage(
  body: unknown,
  hash: () => string,
): MessageReading<PaymentEvent> {
  const message = readEnvelope(body, hash, (event) => OTHER_PORTS.test(event));
  if (message.kind !== 'own') return message;
  const { dedupeKey, name, occurredAt, data } = message;
  const reader = READERS.get(name);
  if (reader === undefined) return { kind: 'unreadable', dedupeKey, name };
  const found = statusOf(data) === reader.status ? reader.read(data) : null;
  // By its hash: the provider may send the event again under the same id, corrected.
  if (!found) return { kind: 'unreadable', dedupeKey: hash(), name };
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

const statusOf = (data: unknown): string | null => {
  const parsed = z.object({ status: z.string() }).safeParse(data);
  return parsed.success ? parsed.data.status : null;
};

function readCharge(data: unknown): About | null {
  const parsed = chargeAnswer.safeParse(data);
  if (!parsed.success) return null;
  const about = { subject: 'charge', state: chargeState(parsed.data) } as const;
  return { reference: oursOf(parsed.data.reference), about };
}

function readRefund(data: unknown): About | null {
  const parsed = refundAnswer.safeParse(data);
  if (!parsed.success) return null;
  const refund = refundOf(parsed.data);
  return { reference: refund.charge.reference, about: { subject: 'refund', refund } };
}

function readDispute(data: unknown): About | null {
  const parsed = disputeAnswer.safeParse(data);
  if (!parsed.success) return null;
  const dispute = disputeOf(parsed.data);
  return { reference: dispute.charge.reference, about: { subject: 'dispute', dispute } };
}

function readSetup(data: unknown): About | null {
  const parsed = setupAnswer.safeParse(data);
  if (!parsed.success) return null;
  const about = { subject: 'setup', state: setupState(parsed.data) } as const;
  return { reference: oursOf(parsed.data.reference), about };
}
