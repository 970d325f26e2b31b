/** A card's state at the issuer. */
export type IssuerCardState = 'open' | 'locked' | 'closed';

/** The possible ends of an approved authorization. */
export type AuthorizationEnd = 'cleared' | 'authorization_reversed' | 'authorization_expired';

const STATE_EFFECTS = {
  open: 'card_opened',
  locked: 'card_locked',
  closed: 'card_closed',
} as const;

export type EffectKind =
  | 'paid'
  | 'reversed'
  | 'issued'
  | 'funded'
  | 'funding_reversed'
  | (typeof STATE_EFFECTS)[IssuerCardState]
  | 'authorized'
  | 'declined'
  | AuthorizationEnd
  | 'charged'
  | 'refunded'
  | 'authorization_revoked';

/** An effect that really happened, as the journal tells it to an auditor. */
export type Effect = {
  seq: number;
  kind: EffectKind;
  reference: string;
  client_reference: string;
  amount_minor: number | null;
  currency: 'NGN';
  session_id: string | null;
  /** The issuer's id of the card. */
  card: string | null;
  /** Of a refund: the client's reference of its charge. */
  charge?: string;
  at: number;
};

export function stateEffect(state: IssuerCardState): EffectKind {
  return STATE_EFFECTS[state];
}

export type JournalEffects = ReturnType<typeof createJournalEffects>;

/** All effects in the order in which they happened, `seq` 1, 2, 3 … */
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
