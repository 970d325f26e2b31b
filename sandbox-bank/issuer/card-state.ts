import { CHANGED_AFTER_MS, issueBehaviour, stateBehaviour } from './behaviours.js';
import type { CardFace, CardRequest, CardRecord } from './records.js';
import {
  ISSUER_CHANGES,
  stateEffect,
  type Effect,
  type EffectKind,
  type IssuerCardState,
  type IssuerChange,
  type JournalEffects,
} from '../shared/journal-effects.js';
import {
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';

/** A card as replayed from the journal. */
export type Card = NumberedRecord<CardRequest, 'pending' | 'issued' | 'refused'> & {
  face: CardFace | null;
  state: IssuerCardState | 'inactive';
  /** Locked by the issuer itself, whatever the client sets. */
  isLockedByIssuer: boolean;
  /** The party that made the latest change; null before the first. */
  changedBy: 'client' | 'issuer' | null;
  /** The change that the issuer makes by itself next, and its time; null if none is planned. */
  planned: { status: IssuerChange; at: number } | null;
  /** The version of the newest state request. */
  version: number;
};

/** The issuer's cards. */
export type CardRecords = ReturnType<typeof createCardState>;

type Record = Exclude<
  CardRecord,
  { authorization: number } | { funding: number } | { cardDispute: number }
>;

/** Holds the issuer's cards. Only `apply` changes them. */
export function createCardState(effects: JournalEffects) {
  const cards = createNumberedRecords<Card>();
  const byReference = new Map<string, Card>();
  const byId = new Map<string, Card>();

  function add(number: number, order: CardRequest, at: number): void {
    const behaviour = issueBehaviour(order.client_reference);
    const start = {
      status: 'pending',
      face: null,
      state: behaviour === 'needs_activation' ? 'inactive' : 'open',
      isLockedByIssuer: false,
      changedBy: null,
      planned: null,
      version: 0,
    } as const;
    cards.add({ number, order, behaviour, ...start, ...newRecordAt(at) });
    byReference.set(order.reference, cards.get(number));
  }

  return {
    all: cards.all,
    get: cards.get,
    withReference: (reference: string) => byReference.get(reference),
    withId: (id: string) => byId.get(id),
    apply(record: Record): void {
      if (record.kind === 'card_ordered') return add(record.card, record.order, record.at);
      const card = cards.get(record.card);
      card.updatedAt = record.at;
      switch (record.kind) {
        case 'issued':
          Object.assign(card, { status: 'issued', face: record.face });
          if (card.behaviour === 'locked_later') plan(card, 'locked', record.at);
          byId.set(record.face.id, card);
          return effects.add(cardEffect(card, 'issued', record));
        case 'issue_refused':
          Object.assign(card, { status: 'refused', code: record.code });
          return;
        case 'state_set': {
          const { state, version, client_reference } = record.order;
          Object.assign(card, { state, version, changedBy: 'client', planned: null });
          if (stateBehaviour(client_reference) === 'undone_later') {
            plan(card, state === 'open' ? 'locked' : 'active', record.at);
          }
          if (record.seq === null) return;
          const effect = cardEffect(card, stateEffect(state), { ...record, seq: record.seq });
          return effects.add({ ...effect, client_reference });
        }
        case 'issuer_changed_card': {
          const { status } = record;
          Object.assign(card, {
            changedBy: 'issuer',
            planned: null,
            isLockedByIssuer: status === 'locked',
            ...(status === 'active' && { state: 'open' }),
            ...(status === 'closed' && { state: 'closed' }),
          });
          return effects.add(cardEffect(card, ISSUER_CHANGES[status], record));
        }
        default:
          throw new Error('the journal has an unknown kind of record');
      }
    },
  };
}

function plan(card: Card, status: IssuerChange, from: number): void {
  card.planned = { status, at: from + CHANGED_AFTER_MS };
}

/** The state of a card as the issuer shows it. */
export const shownState = ({
  state,
  isLockedByIssuer,
}: Pick<Card, 'state' | 'isLockedByIssuer'>) =>
  isLockedByIssuer && state !== 'closed' ? 'locked' : state;

/** The party that is shown as the author of the shown state: the issuer as long as its own lock stands, whoever changed it last. */
export const shownChanger = ({
  isLockedByIssuer,
  changedBy,
}: Pick<Card, 'isLockedByIssuer' | 'changedBy'>) => (isLockedByIssuer ? 'issuer' : changedBy);

/** Makes an effect on a card that moves no money. */
export function cardEffect(
  { order, face }: Card,
  kind: EffectKind,
  { seq, at }: { seq: number; at: number },
): Effect {
  const { reference, client_reference } = order;
  const about = { reference, client_reference, card: face?.id ?? null };
  return { seq, kind, ...about, amount_minor: null, currency: 'NGN', session_id: null, at };
}
