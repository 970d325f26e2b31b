import type { AuthorizationEnd } from '../shared/journal-effects.js';
import type { AuthorizationRequest, CardRecord } from './records.js';
import { cardEffect, type Card, type CardRecords } from './card-state.js';
import type { JournalEffects } from '../shared/journal-effects.js';
import { createNumberedRecords } from '../shared/numbered-records.js';

/** An authorization as replayed from the journal. */
export type Authorization = {
  number: number;
  token: string;
  card: Card;
  order: AuthorizationRequest;
  status: 'asked' | 'authorized' | 'declined' | AuthorizationEnd;
  code: string | null;
  /** The requested amount; after the end, the amount that was captured or released. */
  amountMinor: number;
  createdAt: number;
};

type Record = Extract<CardRecord, { authorization: number }>;

/** Holds the issuer's authorizations. Only `apply` changes them. */
export function createAuthorizationState(effects: JournalEffects, cards: CardRecords) {
  const authorizations = createNumberedRecords<Authorization>();
  const byToken = new Map<string, Authorization>();

  function add(record: Extract<Record, { kind: 'authorization_asked' }>): void {
    const { authorization: number, token, order, at: createdAt } = record;
    const about = { number, token, card: cards.get(record.card), order, createdAt };
    const amountMinor = order.amount_minor;
    authorizations.add({ ...about, status: 'asked', code: null, amountMinor });
    byToken.set(token, authorizations.get(number));
  }

  return {
    all: authorizations.all,
    get: authorizations.get,
    withToken: (token: string) => byToken.get(token),
    apply(record: Record): void {
      if (record.kind === 'authorization_asked') return add(record);
      const authorization = authorizations.get(record.authorization);
      authorization.status = record.kind;
      if ('code' in record) authorization.code = record.code;
      else authorization.amountMinor = record.amount_minor;
      const { token, card, amountMinor } = authorization;
      effects.add({
        ...cardEffect(card, record.kind, record),
        reference: token,
        client_reference: card.order.reference,
        amount_minor: amountMinor,
      });
    },
  };
}
