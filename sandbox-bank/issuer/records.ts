import type { AuthorizationOutcome, IssuerCardState } from '../shared/journal-effects.js';

/** A client's request for a card, as sent over the wire and stored in the journal. It contains no card number. */
export type CardRequest = {
  reference: string;
  client_reference: string;
  type: 'virtual' | 'physical';
  name: string | null;
  requested_at: string;
};

/** A client's request to move money to a card, or, to unload it, from the card. */
export type CardFundingRequest = {
  direction: 'to_card' | 'from_card';
  reference: string;
  client_reference: string;
  /** The issuer's id of the card. */
  card: string;
  amount_minor: number;
  currency: 'NGN';
  requested_at: string;
};

/** A client's request to set a card's state; a higher `version` is newer. */
export type CardStateRequest = {
  state: IssuerCardState;
  version: number;
  client_reference: string;
  requested_at: string;
};

/** The kinds of requests about a card payment. An `advice` tells what the network approved in the client's place. */
export type RequestKind = 'authorization' | 'increment' | 'verification' | 'advice';

/** A request about a simulated card payment. */
export type AuthorizationRequest = {
  kind: RequestKind;
  amount_minor: number;
  channel: 'online' | 'pos' | 'atm' | 'contactless';
  merchant: { name: string; category: string; country: string };
};

/** The visible data of an issued card. */
export type CardFace = {
  /** Opaque: nothing can be derived from it. */
  id: string;
  brand: string;
  last4: string;
  expiry_month: number;
  expiry_year: number;
};

/**
 * The issuer's facts in the journal; each number is assigned by the first record of its card, funding or
 * authorization.
 */
export type CardRecord =
  | { kind: 'card_ordered'; card: number; order: CardRequest; at: number }
  | { kind: 'issued'; card: number; seq: number; face: CardFace; at: number }
  | { kind: 'issue_refused'; card: number; code: string; at: number }
  /** `seq` is null if the state was already the same and only the version is new. */
  | { kind: 'state_set'; card: number; seq: number | null; order: CardStateRequest; at: number }
  | { kind: 'funding_ordered'; funding: number; order: CardFundingRequest; at: number }
  | { kind: 'funded' | 'funding_reversed'; funding: number; seq: number; at: number }
  | { kind: 'funding_refused'; funding: number; code: string; at: number }
  | {
      kind: 'authorization_asked';
      authorization: number;
      /** The number of the message within its authorization, as below. */
      message: number;
      message_id: string;
      token: string;
      card: number;
      order: AuthorizationRequest;
      at: number;
    }
  | {
      kind: 'authorized' | 'declined';
      authorization: number;
      message: number;
      seq: number;
      code: string;
      at: number;
    }
  | {
      kind: AuthorizationOutcome;
      authorization: number;
      message: number;
      message_id: string;
      seq: number;
      amount_minor: number;
      /** Of a clearing: the last one. Of a reversal: all that is held and taken. */
      is_final: boolean;
      at: number;
    };
