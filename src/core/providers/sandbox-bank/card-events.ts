import type { CardEvent, CardEventReading, CardEventState } from '../card-issuer.js';
import { fundingState, issuedData, issuedState, moneyData, requestData } from './card-wire.js';
import { hashOf, isAuthentic, parseJson } from './signed.js';
import { eventBody } from './wire.js';

type Told = Pick<CardEvent, 'card' | 'reference' | 'state'>;
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

/** Reads what came in on the card webhook; header names in lower case. Never throws, whatever it is given. */
export function readSandboxBankCardEvent(
  secret: string,
  raw: Buffer,
  headers: Record<string, string | undefined>,
  now: Date,
): CardEventReading {
  if (!isAuthentic(secret, raw, headers, now)) return { kind: 'bad_signature' };
  const parsed = eventBody.safeParse(parseJson(raw));
  if (!parsed.success) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  const { id: dedupeKey, event: name, occurred_at, data } = parsed.data;
  if (name === 'card.authorization_requested') {
    return readRequest(data) ?? { kind: 'ignored', dedupeKey: hashOf(raw) };
  }
  const known = name === 'card.issued' || MONEY_EVENTS.has(name);
  if (!known) return { kind: 'ignored', dedupeKey };
  const told = name === 'card.issued' ? readIssued(data) : readMoney(name, data);
  if (!told) return { kind: 'ignored', dedupeKey: hashOf(raw) };
  const occurredAt = new Date(occurred_at);
  return { kind: 'event', event: { dedupeKey, name, ...told, occurredAt } };
}

function readRequest(data: unknown): CardEventReading | null {
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

function readIssued(data: unknown): Told | null {
  const parsed = issuedData.safeParse(data);
  if (!parsed.success) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'card', state: issuedState(parsed.data) } };
}

function readMoney(name: string, data: unknown): Told | null {
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
