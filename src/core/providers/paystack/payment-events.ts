import { z } from 'zod';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { PaymentEvent } from '../payment-provider.js';
import type { MessageReader, MessageReading } from '../provider-message.js';
import { chargeState, transactionData } from './charge-wire.js';
import { disputeData, disputeOf } from './dispute-wire.js';
import { dateOf } from './fields.js';
import { createReader, type Message } from './messages.js';
import { chargeReferences } from './references.js';
import { chargeOf, refundData, refundOf, transactionOf } from './refund-wire.js';

type Found = Pick<PaymentEvent, 'reference' | 'about' | 'occurredAt'>;

/** The reader of Paystack's messages about charges, refunds and disputes. */
export const createPaymentReader = (
  settings: Pick<PaystackSettings, 'keys' | 'domain'>,
): Pick<MessageReader<PaymentEvent>, 'readMessage' | 'readStored'> =>
  createReader(settings, 'payments', readEvent);

function readEvent(message: Message): MessageReading<PaymentEvent> {
  const { event: name, dedupeKey } = message;
  if (name.startsWith('direct_debit.')) return readMandate(message);
  if (isOfNoCharge(message)) return { kind: 'other_port', dedupeKey, name };
  const found = readFound(message);
  if (!found) return { kind: 'unreadable', dedupeKey, name };
  return { kind: 'event', event: { dedupeKey, name, ...found } };
}

const mandateData = z.looseObject({ reference: z.string().min(1).max(200) });

/**
 * A mandate has a reference of Paystack's, which is the handle of its set-up. Only a question proves its state, so the message
 * has it asked about. One without the reference changes nothing: the set-up is asked about anyway.
 */
function readMandate({ event: name, dedupeKey, data }: Message): MessageReading<PaymentEvent> {
  const parsed = mandateData.safeParse(data);
  if (!parsed.success) return { kind: 'irrelevant', dedupeKey, name };
  const { reference } = parsed.data;
  const about = { subject: 'setup', state: { kind: 'pending' } } as const;
  const event = { dedupeKey: `${name}:${reference}`, name, reference, about, occurredAt: null };
  return { kind: 'event', event };
}

function readFound(message: Message): Found | null {
  const { event, data } = message;
  if (event.startsWith('charge.dispute.')) return readDispute(event, data);
  return event.startsWith('refund.') ? readRefund(message) : readCharge(data);
}

/** Money on a virtual account, money that nobody here has asked for, and refunds of both have the events of charges. */
function isOfNoCharge({ event, data }: Message): boolean {
  const reference = event.startsWith('refund.')
    ? transactionOf(refundData.safeParse(data).data ?? {}).reference
    : event === 'charge.success' && transactionData.safeParse(data).data?.reference;
  return typeof reference === 'string' && chargeReferences.toOurs(reference) === null;
}

function readCharge(data: unknown): Found | null {
  const parsed = transactionData.safeParse(data);
  const reference = parsed.success ? chargeReferences.toOurs(parsed.data.reference) : null;
  if (!parsed.success || reference === null) return null;
  const state = chargeState(parsed.data);
  // A message that is sent, or sent again, after the money went back makes us ask.
  if (state.kind !== 'succeeded' && state.kind !== 'reversed') return null;
  const occurredAt = dateOf(parsed.data.paid_at, parsed.data.paidAt);
  return { reference, about: { subject: 'charge', state }, occurredAt };
}

function readRefund({ event, data, repeatKey }: Message): Found | null {
  const parsed = refundData.safeParse(data);
  if (!parsed.success || event !== `refund.${parsed.data.status}`) return null;
  const reference = chargeOf(parsed.data);
  const refund = reference === null ? null : refundOf(parsed.data, reference);
  if (reference === null || !refund) return null;
  const occurredAt = dateOf(parsed.data.updatedAt, parsed.data.updated_at);
  return { reference, about: { subject: 'refund', refund, repeatKey }, occurredAt };
}

/** The event by which Paystack reminds of a dispute that nobody has answered. */
const REMINDER = 'charge.dispute.remind';

function readDispute(event: string, data: unknown): Found | null {
  const parsed = disputeData.safeParse(data);
  const dispute = parsed.success ? disputeOf(parsed.data) : null;
  if (!dispute) return null;
  const { reference } = dispute.charge;
  const about = { subject: 'dispute', dispute, reminds: event === REMINDER } as const;
  return { reference, about, occurredAt: null };
}
