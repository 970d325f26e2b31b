import type {
  AuthorizationOutcome,
  CardDisputeOutcome,
  IssuerCardState,
  IssuerChange,
} from '../shared/journal-effects.js';

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

/**
 * The kinds of requests about a card payment. An `advice` tells what the network approved in the client's place. A
 * `financial` one clears at once. A `verification`, a `balance_inquiry` and a `credit` hold nothing.
 */
export type RequestKind =
  | 'authorization'
  | 'increment'
  | 'verification'
  | 'balance_inquiry'
  | 'financial'
  | 'credit'
  | 'advice';

/** A request about a simulated card payment. */
export type AuthorizationRequest = {
  kind: RequestKind;
  amount_minor: number;
  /** The amount to hold, if it is not the requested one. */
  hold_minor: number | null;
  /** True if the merchant takes less than the requested amount. */
  partial_approval: boolean;
  channel: 'online' | 'pos' | 'atm' | 'contactless';
  merchant: { name: string; category: string; country: string };
  /** The part in cash, the amount in the merchant's currency, and the party that began the payment. Missing: not told. */
  cash_minor?: number | undefined;
  merchant_amount?: { amount_minor: number; currency: string } | undefined;
  initiator?: 'cardholder' | 'merchant' | undefined;
  /** The end of the hold, as the client is told. Nothing ends by it. */
  hold_until?: string | undefined;
  /** The client is told to answer within this time, and no later answer counts. Missing: only the issuer's own limit counts. */
  answer_within_ms?: number | undefined;
};

/** A client's request to dispute a card payment. */
export type DisputeRequest = {
  reference: string;
  client_reference: string;
  /** The issuer's id of the card. */
  card: string;
  /** The token of the payment. */
  authorization: string;
  amount_minor: number;
  currency: 'NGN';
  reason: string;
  explanation: string;
  requested_at: string;
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
 * The issuer's facts in the journal; each number is assigned by the first record of its card, funding,
 * authorization or dispute.
 */
export type CardRecord =
  | { kind: 'card_ordered'; card: number; order: CardRequest; at: number }
  | { kind: 'issued'; card: number; seq: number; face: CardFace; at: number }
  | { kind: 'issue_refused'; card: number; code: string; at: number }
  /** `seq` is null if the state was already the same and only the version is new. */
  | { kind: 'state_set'; card: number; seq: number | null; order: CardStateRequest; at: number }
  | { kind: 'issuer_changed_card'; card: number; seq: number; status: IssuerChange; at: number }
  | { kind: 'funding_ordered'; funding: number; order: CardFundingRequest; at: number }
  | { kind: 'funded'; funding: number; seq: number; at: number }
  /** `part_minor`: only this much is taken back; missing: all that is left. */
  | { kind: 'funding_reversed'; funding: number; seq: number; part_minor?: number; at: number }
  | { kind: 'dispute_ordered'; cardDispute: number; order: DisputeRequest; at: number }
  | {
      kind: CardDisputeOutcome;
      cardDispute: number;
      message_id: string;
      seq: number;
      amount_minor: number;
      code: string | null;
      at: number;
    }
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
      /** The approved amount. */
      approved_minor: number;
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
      /** Of a clearing that nobody was asked about. */
      forced?: true;
      at: number;
    };
