import type { z } from 'zod';
import type {
  AuthorizationReading,
  AuthorizationState,
  CardEvent,
  CardEventState,
} from '../card-issuer.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import {
  authorizationData,
  fundingState,
  issuedData,
  issuedState,
  moneyData,
  unloadState,
  requestData,
} from './card-wire.js';
import { eventBody, IRRELEVANT_EVENTS, nameOf } from './wire.js';

type About = Pick<CardEvent, 'card' | 'reference' | 'state'>;
type Money = { amount_minor: bigint; code?: string | null | undefined };

/** By the name of the event: what its data say. */
const MONEY_EVENTS = new Map<string, (money: Money) => CardEventState>([
  ['card.funding_pending', funding('pending')],
  ['card.funded', funding('funded')],
  ['card.funding_refused', funding('refused')],
  ['card.funding_reversed', funding('reversed')],
  ['card.unload_pending', unload('pending')],
  ['card.unloaded', unload('funded')],
  ['card.unload_refused', unload('refused')],
  ['card.unload_reversed', unload('reversed')],
]);

type Report = z.infer<typeof authorizationData>;

/** Events about an authorization, by name. */
const AUTHORIZATION_EVENTS = new Map<string, (report: Report) => AuthorizationState | null>([
  [
    'card.authorization_advice',
    ({ message_id: messageId, amount_minor: amountMinor }) =>
      messageId == null ? null : { kind: 'approved', messageId, amountMinor, standIn: 'network' },
  ],
  [
    'card.declined',
    ({ message_id, code }) => ({
      kind: 'declined',
      messageId: message_id ?? null,
      code: code ?? 'no_answer',
    }),
  ],
  [
    'card.cleared',
    ({ message_id, amount_minor: amountMinor, final }) => ({
      kind: 'cleared',
      messageId: message_id ?? null,
      amountMinor,
      final,
    }),
  ],
  [
    'card.authorization_reversed',
    ({ message_id, amount_minor, whole }) => ({
      kind: 'reversed',
      messageId: message_id ?? null,
      amountMinor: whole ? null : amount_minor,
    }),
  ],
  [
    'card.authorization_expired',
    ({ message_id }) => ({ kind: 'expired', messageId: message_id ?? null }),
  ],
  ...(['refunded', 'refund_reversed', 'corrected'] as const).map(
    (kind) =>
      [
        `card.${kind}`,
        ({ message_id, amount_minor: amountMinor }: Report) => ({
          kind,
          messageId: message_id ?? null,
          amountMinor,
        }),
      ] as const,
  ),
]);

/** The fields of the issuer's messages that hold nothing of a cardholder. `card` is the issuer's id of a card. */
export const CARD_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  occurred_at: 'value',
  reference: 'value',
  message_id: 'value',
  final: 'value',
  whole: 'value',
  card: 'value',
  brand: 'value',
  last4: 'value',
  expiry_month: 'value',
  expiry_year: 'value',
  status: 'value',
  amount_minor: 'value',
  currency: 'value',
  code: 'value',
  channel: 'value',
  requested_at: 'value',
};

/** Reads an authentic message of the issuer. Never throws. */
export function readCardMessage(
  body: unknown,
  hash: () => string,
): MessageReading<CardEvent> | AuthorizationReading {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return { kind: 'unreadable', dedupeKey: hash(), name: nameOf(body) };
  const { id: dedupeKey, event: name, occurred_at, data } = parsed.data;
  if (name === 'card.authorization_requested') {
    return readRequest(data) ?? { kind: 'unreadable', dedupeKey: hash(), name };
  }
  if (IRRELEVANT_EVENTS.has(name)) return { kind: 'irrelevant', dedupeKey, name };
  const read = readerOf(name);
  if (!read) return { kind: 'unreadable', dedupeKey, name };
  const about = read(name, data);
  // By its hash: the issuer may send the event again under the same id, corrected.
  if (!about) return { kind: 'unreadable', dedupeKey: hash(), name };
  const occurredAt = new Date(occurred_at);
  return { kind: 'event', event: { dedupeKey, name, ...about, occurredAt } };
}

function readerOf(name: string): ((name: string, data: unknown) => About | null) | undefined {
  if (name === 'card.issued') return (_, data) => readIssued(data);
  if (MONEY_EVENTS.has(name)) return readMoney;
  return AUTHORIZATION_EVENTS.has(name) ? readAuthorization : undefined;
}

/** The state in an event about an authorization; null if it is unreadable. */
export function readAuthorizationState(name: string, report: Report): AuthorizationState | null {
  const state = AUTHORIZATION_EVENTS.get(name)?.(report) ?? null;
  return name !== 'card.corrected' && report.amount_minor < 0n ? null : state;
}

function readAuthorization(name: string, data: unknown): About | null {
  const parsed = authorizationData.safeParse(data);
  const state = parsed.success ? readAuthorizationState(name, parsed.data) : null;
  if (!parsed.success || !state) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'authorization', state } };
}

function readRequest(data: unknown): AuthorizationReading | null {
  const parsed = requestData.safeParse(data);
  if (!parsed.success) return null;
  const { reference: token, card, amount_minor, currency, channel, merchant } = parsed.data;
  const { name, category, country } = merchant;
  return {
    kind: 'authorization',
    request: {
      token,
      messageId: parsed.data.message_id ?? token,
      card,
      amountMinor: amount_minor,
      currency,
      channel,
      merchant: { name, category, country },
      requestedAt: new Date(parsed.data.requested_at),
    },
  };
}

function readIssued(data: unknown): About | null {
  const parsed = issuedData.safeParse(data);
  if (!parsed.success) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'card', state: issuedState(parsed.data) } };
}

function readMoney(name: string, data: unknown): About | null {
  const parsed = moneyData.safeParse(data);
  const state = parsed.success ? MONEY_EVENTS.get(name)?.(parsed.data) : undefined;
  if (!parsed.success || !state) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state };
}

function funding(status: 'pending' | 'funded' | 'refused' | 'reversed') {
  return (money: Money): CardEventState => ({
    subject: 'funding',
    state: fundingState(status, money),
  });
}

function unload(status: 'pending' | 'funded' | 'refused' | 'reversed') {
  return (money: Money): CardEventState => ({
    subject: 'unload',
    state: unloadState(fundingState(status, money)),
  });
}
