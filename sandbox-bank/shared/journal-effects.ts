/** A card's state at the issuer. */
export type IssuerCardState = 'open' | 'locked' | 'closed';

/** The changes of a card that the issuer makes by itself. */
export const ISSUER_CHANGES = {
  locked: 'locked_by_issuer',
  active: 'opened_by_issuer',
  closed: 'closed_by_issuer',
} as const;

/** The status that the issuer gives a card by itself. */
export type IssuerChange = keyof typeof ISSUER_CHANGES;

/** The changes of a card payment after its approval, in part or in full. */
export type AuthorizationOutcome =
  | 'cleared'
  | 'authorization_reversed'
  | 'authorization_expired'
  | 'refunded_to_card'
  | 'card_refund_reversed'
  | 'clearing_corrected';

/** The changes of a dispute of a card payment. */
export type CardDisputeOutcome =
  | 'card_disputed'
  | 'card_dispute_refused'
  | 'card_dispute_credited'
  | 'card_dispute_credit_reversed'
  | 'card_dispute_won'
  | 'card_dispute_lost'
  | 'card_dispute_withdrawn';

const STATE_EFFECTS = {
  open: 'card_opened',
  locked: 'card_locked',
  closed: 'card_closed',
} as const;

/** The kinds of effects in the journal. */
export type EffectKind =
  | 'paid'
  | 'reversed'
  | 'issued'
  | 'funded'
  | 'funding_reversed'
  | 'unloaded'
  | 'unload_reversed'
  | (typeof STATE_EFFECTS)[IssuerCardState]
  | (typeof ISSUER_CHANGES)[IssuerChange]
  | 'authorized'
  | 'declined'
  | AuthorizationOutcome
  | CardDisputeOutcome
  | 'charged'
  | 'refunded'
  | 'refund_returned'
  | 'checked'
  | 'disputed'
  | 'dispute_won'
  | 'dispute_lost'
  | 'authorization_revoked'
  /** Of virtual accounts and deposits; the journal's `reference` of a deposit is the bank's own id. */
  | 'opened'
  | 'closed'
  | 'received'
  | 'deposit_reversed'
  | 'deposit_returned';

/** An effect that happened, as the journal shows it to an auditor. */
export type Effect = {
  seq: number;
  kind: EffectKind;
  reference: string;
  client_reference: string;
  amount_minor: number | null;
  currency: string;
  session_id: string | null;
  /** The issuer's id of the card. */
  card: string | null;
  /** For a card payment: the issuer's id of the message. */
  message_id?: string;
  /** For an approval: the amount held, if it is another one. */
  held_minor?: number;
  /** For an outcome of a card payment: a last clearing, or a reversal of everything. */
  final?: boolean;
  /** For a dispute: the acquirer's id. */
  dispute?: string;
  /** For a dispute: whether the acquirer has taken the amount while it is open. */
  funds?: 'held' | 'taken';
  /** For a refund: the client's reference of its charge. */
  charge?: string;
  /** For an identity check. */
  result?: string;
  /** For a bill: the biller. */
  biller?: string;
  at: number;
};

/** The effect of setting a card to this state. */
export function stateEffect(state: IssuerCardState): EffectKind {
  return STATE_EFFECTS[state];
}

/** The effects of all parts of the bank. */
export type JournalEffects = ReturnType<typeof createJournalEffects>;

/** Holds all effects, sorted by time, `seq` 1, 2, 3 … Throws if the journal misses one. */
export function createJournalEffects() {
  const all: Effect[] = [];
  return {
    all: all as readonly Effect[],
    add(effect: Effect): void {
      if (effect.seq !== all.length + 1) throw new Error('the journal misses an effect');
      all.push(effect);
    },
  };
}
