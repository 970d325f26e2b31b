import { z } from 'zod';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { MessageReader, MessageReading, SafeFields } from '../provider-message.js';
import { word } from './fields.js';
import { hashOf, signedBy } from './signature.js';

/** The ports that Paystack's messages are for. All come to one address. */
type MessagePort = 'transfers' | 'payments' | 'accounts' | 'identity';

/**
 * Every documented event and the ports that it may be for; none if nothing follows from it. A `charge.success` is also
 * sent for money on a virtual account. An event that is not here is unreadable: stored, and shown to an operator.
 */
const EVENTS: Readonly<Record<string, readonly MessagePort[]>> = {
  'transfer.success': ['transfers'],
  'transfer.failed': ['transfers'],
  'transfer.reversed': ['transfers'],
  'charge.success': ['payments', 'accounts'],
  'refund.pending': ['payments', 'accounts'],
  'refund.processing': ['payments', 'accounts'],
  'refund.processed': ['payments', 'accounts'],
  'refund.failed': ['payments', 'accounts'],
  'refund.needs-attention': ['payments', 'accounts'],
  'charge.dispute.create': ['payments'],
  'charge.dispute.remind': ['payments'],
  'charge.dispute.resolve': ['payments'],
  'direct_debit.authorization.created': ['payments'],
  'direct_debit.authorization.active': ['payments'],
  'dedicatedaccount.assign.success': ['accounts'],
  'dedicatedaccount.assign.failed': ['accounts'],
  'customeridentification.success': ['identity'],
  'customeridentification.failed': ['identity'],
  'invoice.create': [],
  'invoice.update': [],
  'invoice.payment_failed': [],
  'subscription.create': [],
  'subscription.disable': [],
  'subscription.not_renew': [],
  'subscription.expiring_cards': [],
  'paymentrequest.pending': [],
  'paymentrequest.success': [],
  'preauthorization.success': [],
  'bank.transfer.rejected': [],
};

/** The ports of an event; undefined for one that is not documented. */
const portsOf = (event: string): readonly MessagePort[] | undefined =>
  Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined;

/** A message. One event has `status` and `message` beside `data`. */
const messageBody = z.looseObject({
  event: z.string().min(1).max(100),
  data: z.unknown().optional(),
});

const keyFields = z.looseObject({
  id: z
    .union([z.int(), z.string().min(1).max(100)])
    .nullish()
    .catch(null),
  transfer_code: z.string().min(1).max(100).nullish().catch(null),
  status: word.nullish().catch(null),
  resolution: word.nullish().catch(null),
  domain: z.enum(['test', 'live']).nullish().catch(null),
});

/** A message before its facts are read. `environment`: null where the message does not name it. */
export type Message = {
  event: string;
  dedupeKey: string;
  environment: 'test' | 'live' | null;
  data: unknown;
};

/**
 * The event, its key and its environment; null if the body is no message. Paystack gives its messages no id: the event,
 * the record, its status and the resolution of a dispute are the key. Without an id of the record the hash of the body takes its
 * place.
 */
function readBody(body: unknown, hash: () => string): Message | null {
  const parsed = messageBody.safeParse(body);
  if (!parsed.success) return null;
  const { event, data } = parsed.data;
  const found = keyFields.safeParse(data);
  const { id, transfer_code: code, status, resolution, domain } = found.success ? found.data : {};
  const resolved = resolution == null ? [] : [resolution];
  const key = [event, id ?? code ?? hash(), status ?? '', ...resolved].join(':');
  return { event, dedupeKey: key, environment: domain ?? null, data };
}

/**
 * Creates the reader of the messages of one port. A message of the other environment has no effect: it is stored, and an
 * operator is called. One of another port is left to it.
 */
export function createReader<Event>(
  { keys, domain, onVerified }: Pick<PaystackSettings, 'keys' | 'domain' | 'onVerified'>,
  port: MessagePort,
  read: (message: Message) => MessageReading<Event>,
): Pick<MessageReader<Event>, 'readMessage' | 'readStored'> {
  function readAny(body: unknown, hash: () => string): MessageReading<Event> {
    const message = readBody(body, hash);
    if (!message) return { kind: 'unreadable', dedupeKey: hash(), name: null };
    const { event: name, dedupeKey, environment } = message;
    const ports = portsOf(name);
    if (ports?.length === 0) return { kind: 'irrelevant', dedupeKey, name };
    if (ports && !ports.includes(port)) return { kind: 'other_port', dedupeKey, name };
    const isOther = environment !== null && environment !== domain;
    return ports === undefined || isOther ? { kind: 'unreadable', dedupeKey, name } : read(message);
  }
  return {
    readMessage(raw, headers) {
      const key = signedBy(keys, raw, headers['x-paystack-signature']);
      if (key === undefined) return { kind: 'bad_signature' };
      onVerified?.(key);
      return readAny(parse(raw), () => hashOf(raw));
    },
    // The stored copy has a key already.
    readStored: (message) => readAny(message, () => ''),
  };
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * The fields of messages that hold nothing of a customer. E-mails, names, account numbers and the codes of saved methods
 * are not among them.
 */
export const SAFE_FIELDS: SafeFields = {
  event: 'value',
  id: 'value',
  domain: 'value',
  status: 'value',
  reference: 'value',
  amount: 'value',
  requested_amount: 'value',
  currency: 'value',
  fees: 'value',
  fee_charged: 'value',
  channel: 'value',
  transfer_code: 'value',
  transaction_reference: 'value',
  refund_reference: 'value',
  refund_amount: 'value',
  resolution: 'value',
  category: 'value',
  source: 'value',
  createdAt: 'value',
  created_at: 'value',
  updatedAt: 'value',
  updated_at: 'value',
  paid_at: 'value',
  paidAt: 'value',
  dueAt: 'value',
  due_at: 'value',
  merchant_note: 'own_id',
};
