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

/**
 * A message before its facts are read. `repeatKey`: equal for equal messages about a refund that they do not name, whose
 * `dedupeKey` has the time of receipt in it; null for any other message. `environment`: null where the message does not name it.
 */
export type Message = {
  event: string;
  dedupeKey: string;
  repeatKey: string | null;
  environment: 'test' | 'live' | null;
  data: unknown;
};

/** The receipt of a message: the hash of its body, and its time. A stored copy has neither. */
type Receipt = { hash: () => string; second: string };

const STORED: Receipt = { hash: () => '', second: '' };

/** The second of a receipt, in UTC. */
const secondOf = (now: Date): string => now.toISOString().slice(0, 19);

/**
 * The event, its key and its environment; null if the body is no message. Paystack gives its messages no id: the event,
 * the record, its status and the resolution of a dispute are the key. Without an id of the record the hash of the body takes its
 * place.
 *
 * Two refunds of one amount and charge may have equal messages, because the official samples name neither the refund nor a time.
 * So the second of the receipt is part of the key of such a message. Equal messages within a second have Paystack's list read
 * that second (`list_not_read`), which has the refunds of both. A repeat of Paystack's, minutes or hours later, has the list read
 * again, which changes nothing. A message about a deposit has no list: each repeat of the failure of its refund, in another second,
 * is an event of its own, which may call an operator again.
 */
function readBody(body: unknown, { hash, second }: Receipt): Message | null {
  const parsed = messageBody.safeParse(body);
  if (!parsed.success) return null;
  const { event, data } = parsed.data;
  const found = keyFields.safeParse(data);
  const { id, transfer_code: code, status, resolution, domain } = found.success ? found.data : {};
  const resolved = resolution == null ? [] : [resolution];
  const isUnnamedRefund = event.startsWith('refund.') && id == null;
  const named = isUnnamedRefund ? null : (id ?? code);
  const received = isUnnamedRefund ? [second] : [];
  const key = [event, named ?? hash(), status ?? '', ...resolved, ...received].join(':');
  const repeatKey = isUnnamedRefund ? hash() : null;
  return { event, dedupeKey: key, repeatKey, environment: domain ?? null, data };
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
  function readAny(body: unknown, receipt: Receipt): MessageReading<Event> {
    const message = readBody(body, receipt);
    if (!message) return { kind: 'unreadable', dedupeKey: receipt.hash(), name: null };
    const { event: name, dedupeKey, environment } = message;
    const ports = portsOf(name);
    if (ports?.length === 0) return { kind: 'irrelevant', dedupeKey, name };
    if (ports && !ports.includes(port)) return { kind: 'other_port', dedupeKey, name };
    const isOther = environment !== null && environment !== domain;
    return ports === undefined || isOther ? { kind: 'unreadable', dedupeKey, name } : read(message);
  }
  return {
    readMessage(raw, headers, now) {
      const key = signedBy(keys, raw, headers['x-paystack-signature']);
      if (key === undefined) return { kind: 'bad_signature' };
      onVerified?.(key);
      return readAny(parse(raw), { hash: () => hashOf(raw), second: secondOf(now) });
    },
    // The stored copy has a key already.
    readStored: (message) => readAny(message, STORED),
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
