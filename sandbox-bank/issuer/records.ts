import type { AuthorizationEnd, IssuerCardState } from '../shared/journal-effects.js';

/** What a client asks of the issuer, as it is on the wire and in the journal. There is no card number anywhere. */
export type CardRequest = {
  reference: string;
  client_reference: string;
  type: 'virtual' | 'physical';
  name: string | null;
  requested_at: string;
};

export type CardFundingRequest = {
  reference: string;
  client_reference: string;
  /** The issuer's id. */
  card: string;
  amount_minor: number;
  currency: 'NGN';
  requested_at: string;
};

export type CardStateRequest = {
  state: IssuerCardState;
  version: number;
  client_reference: string;
  requested_at: string;
};

export type AuthorizationRequest = {
  amount_minor: number;
  channel: 'online' | 'pos' | 'atm' | 'contactless';
  merchant: { name: string; category: string; country: string };
};

/** What a card looks like from outside. */
export type CardFace = {
  /** Opaque; nothing can be read from it. */
  id: string;
  brand: string;
  last4: string;
  expiry_month: number;
  expiry_year: number;
};

/** The issuer's facts of the journal; each thing by the number that its first record gave it. */
export type CardRecord =
  | { kind: 'card_ordered'; card: number; order: CardRequest; at: number }
  | { kind: 'issued'; card: number; seq: number; face: CardFace; at: number }
  | { kind: 'issue_refused'; card: number; code: string; at: number }
  /** Without `seq` the state was the same already, and only its version is new. */
  | { kind: 'state_set'; card: number; seq: number | null; order: CardStateRequest; at: number }
  | { kind: 'funding_ordered'; funding: number; order: CardFundingRequest; at: number }
  | { kind: 'funded' | 'funding_reversed'; funding: number; seq: number; at: number }
  | { kind: 'funding_refused'; funding: number; code: string; at: number }
  | {
      kind: 'authorization_asked';
      authorization: number;
      token: string;
      card: number;
      order: AuthorizationRequest;
      at: number;
    }
  | {
      kind: 'authorized' | 'declined';
      authorization: number;
      seq: number;
      code: string;
      at: number;
    }
  | {
      kind: AuthorizationEnd;
      authorization: number;
      seq: number;
      amount_minor: number;
      at: number;
    };
