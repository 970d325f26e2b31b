import type { AuthorizationReading, CardEvent, CardEventState } from '../card-issuer.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import { fundingState, issuedData, issuedState, moneyData, requestData } from './card-wire.js';
import { eventBody, IRRELEVANT_EVENTS, nameOf } from './wire.js';

type About = Pick<CardEvent, 'card' | 'reference' | 'state'>;
type Money = { amount_minor: bigint; code?: string | null | undefined };

/** By the name of the event: what its data say. */
const MONEY_EVENTS = new Map<string, (money: Money) => CardEventState>([
  ['card.funding_pending', funding('pending')],
  ['card.funded', funding('funded')],
  ['card.funding_refused', funding('refused')],
  ['card.funding_reversed', funding('reversed')],
  ['card.declined', ({ code }) => authorization({ kind: 'declined', code: code ?? 'no_answer' })],
  [
    'card.cleared',
    ({ amount_minor }) => authorization({ kind: 'cleared', amountMinor: amount_minor }),
  ],
  ['card.authorization_reversed', () => authorization({ kind: 'reversed' })],
  ['card.authorization_expired', () => authorization({ kind: 'expired' })],
]);

/** The fields of the issuer's messages that hold nothing of a cardholder. `card` is the issuer's id of a card. */
export const CARD_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  occurred_at: 'value',
  reference: 'value',
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
  const known = name === 'card.issued' || MONEY_EVENTS.has(name);
  if (!known) return { kind: 'unreadable', dedupeKey, name };
  const about = name === 'card.issued' ? readIssued(data) : readMoney(name, data);
  // By its hash: the issuer may send the event again under the same id, corrected.
  if (!about) return { kind: 'unreadable', dedupeKey: hash(), name };
  const occurredAt = new Date(occurred_at);
  return { kind: 'event', event: { dedupeKey, name, ...about, occurredAt } };
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

function authorization(
  state: Extract<CardEventState, { subject: 'authorization' }>['state'],
): CardEventState {
  return { subject: 'authorization', state };
}
