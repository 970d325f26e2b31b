import type { AuthorizationOutcome, JournalEffects } from '../shared/journal-effects.js';
import type { AuthorizationRequest, CardRecord } from './records.js';
import { cardEffect, type Card, type CardRecords } from './card-state.js';
import { createNumberedRecords } from '../shared/numbered-records.js';

/** A message about an authorization: a request with its decision, or an outcome. */
export type AuthorizationMessage = {
  number: number;
  id: string;
  status: 'asked' | 'authorized' | 'declined' | AuthorizationOutcome;
  amountMinor: number;
  /** Null for an outcome. */
  order: AuthorizationRequest | null;
  code: string | null;
  /** Of a clearing: the last one. Of a reversal: all that is held and taken. */
  isFinal: boolean;
  /** Of a clearing that nobody was asked about. */
  isForced: boolean;
  at: number;
};

/** A card payment as replayed from the journal: the group of all messages about it. */
export type Authorization = {
  number: number;
  token: string;
  card: Card;
  messages: AuthorizationMessage[];
  status: AuthorizationMessage['status'];
  heldMinor: number;
  /** Taken, and not returned by a reversal or a refund. */
  takenMinor: number;
  createdAt: number;
};

type Record = Extract<CardRecord, { authorization: number }>;

/** Holds the issuer's authorizations. Only `apply` changes them. */
export function createAuthorizationState(effects: JournalEffects, cards: CardRecords) {
  const authorizations = createNumberedRecords<Authorization>();
  const byToken = new Map<string, Authorization>();

  function add(record: Extract<Record, { kind: 'authorization_asked' }>): void {
    const { authorization: number, token, message, message_id: id, order, at } = record;
    const asked: AuthorizationMessage = {
      number: message,
      id,
      order,
      status: 'asked',
      amountMinor: order.amount_minor,
      code: null,
      isFinal: true,
      isForced: false,
      at,
    };
    if (number < authorizations.all.length) {
      authorizations.get(number).messages.push(asked);
      return;
    }
    const about = { number, token, card: cards.get(record.card), messages: [asked] };
    const start = { status: 'asked', heldMinor: 0, takenMinor: 0, createdAt: at } as const;
    authorizations.add({ ...about, ...start });
    byToken.set(token, authorizations.get(number));
  }

  return {
    all: authorizations.all,
    get: authorizations.get,
    withToken: (token: string) => byToken.get(token),
    apply(record: Record): void {
      if (record.kind === 'authorization_asked') return add(record);
      const authorization = authorizations.get(record.authorization);
      if ('code' in record) releaseWithdrawn(authorization, record);
      const message = 'code' in record ? decided(authorization, record) : outcome(record);
      if (!('code' in record)) authorization.messages.push(message);
      if (message.status !== 'declined') move(authorization, message);
      const hasMoney = authorization.heldMinor > 0 || authorization.takenMinor > 0;
      if (message.status !== 'declined' || !hasMoney) authorization.status = message.status;
      const { token, card } = authorization;
      effects.add({
        ...cardEffect(card, record.kind, record),
        reference: token,
        client_reference: card.order.reference,
        message_id: message.id,
        amount_minor: message.amountMinor,
        ...(message.order === null && { final: message.isFinal }),
        ...(message.status === 'authorized' && { held_minor: heldBy(message) }),
      });
    },
  };
}

/** An approval that the network withdraws holds nothing any more. */
function releaseWithdrawn(one: Authorization, record: Extract<Record, { code: string }>): void {
  const before = one.messages[record.message];
  if (record.kind !== 'declined' || before?.status !== 'authorized') return;
  one.heldMinor = Math.max(0, one.heldMinor - heldBy(before));
}

function decided(
  { messages }: Authorization,
  record: Extract<Record, { code: string }>,
): AuthorizationMessage {
  const message = messages[record.message];
  if (!message) throw new Error('the journal misses a message of an authorization');
  const { kind: status, code, approved_minor: approved } = record;
  const amountMinor = status === 'authorized' ? approved : message.amountMinor;
  return Object.assign(message, { status, code, amountMinor });
}

const outcome = (
  record: Exclude<Record, { code: string } | { kind: 'authorization_asked' }>,
): AuthorizationMessage => ({
  number: record.message,
  id: record.message_id,
  status: record.kind,
  amountMinor: record.amount_minor,
  order: null,
  code: null,
  isFinal: record.is_final,
  isForced: record.forced === true,
  at: record.at,
});

/** The amount that an approval holds. An advice tells no hold but its amount. */
const heldBy = ({ order, amountMinor }: AuthorizationMessage): number =>
  order?.hold_minor != null && order.kind !== 'advice' && amountMinor === order.amount_minor
    ? order.hold_minor
    : amountMinor;

/** The part of the hold that a clearing ends: all of it if it is final, but of a financial message its own hold alone. */
function endedBy(one: Authorization, { id, amountMinor, isFinal }: AuthorizationMessage): number {
  const own = one.messages.find((each) => each.id === id && each.order?.kind === 'financial');
  if (own) return heldBy(own);
  return isFinal ? one.heldMinor : amountMinor;
}

function move(one: Authorization, message: AuthorizationMessage): void {
  const { status, amountMinor } = message;
  switch (status) {
    case 'authorized':
      one.heldMinor += heldBy(message);
      return;
    case 'cleared':
      one.takenMinor += amountMinor;
      one.heldMinor = Math.max(0, one.heldMinor - endedBy(one, message));
      return;
    case 'authorization_reversed': {
      const rest = Math.max(0, amountMinor - one.heldMinor);
      one.heldMinor = Math.max(0, one.heldMinor - amountMinor);
      one.takenMinor -= Math.min(rest, Math.max(0, one.takenMinor));
      return;
    }
    case 'authorization_expired':
      one.heldMinor = 0;
      return;
    case 'refunded_to_card':
      one.takenMinor -= amountMinor;
      return;
    case 'card_refund_reversed':
    case 'clearing_corrected':
      one.takenMinor += amountMinor;
      return;
    case 'asked':
    case 'declined':
  }
}
