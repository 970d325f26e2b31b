import type { MessageReader } from './provider-message.js';
import type { Absence, CallTrace, NotFound, Throttled, Unknown } from './transfer-provider.js';

/**
 * The port of card issuers. As for transfers: plain values, a silence is an answer (`unknown`), only an explicit
 * answer is terminal, and nothing throws for what the issuer did or did not say. No card number and no security code
 * passes here in either direction.
 */

export type CardCapabilities = {
  /** What "not found" proves of a funding whose answer never came. A card is always issued once per reference. */
  absence: Absence;
  /** Bound of our calls to this issuer over all workers. */
  callsPerSecond: number;
};

export type CardOrder = {
  /** Our id of the card. */
  reference: string;
  /** The tenant's id of the customer. */
  clientReference: string;
  type: 'virtual' | 'physical';
  /** To be printed on the card. */
  name: string | null;
  requestedAt: Date;
};

/** What is known of a card; `card` is the issuer's id, which nothing can be read from. */
export type IssuedCard = {
  card: string;
  brand: string;
  last4: string;
  expiryMonth: number;
  expiryYear: number;
};

/** Codes and reasons are ours, here and below, never the issuer's own text. */
export type IssueState =
  ({ kind: 'issued' } & IssuedCard) | { kind: 'pending' } | { kind: 'rejected'; code: string };

export type IssueAnswer = CallTrace & (IssueState | Throttled | Unknown);
export type FindCardAnswer = CallTrace & (IssueState | NotFound | Unknown);

export type FundingOrder = {
  /** Our id of the operation. */
  reference: string;
  /** The tenant's transaction reference. */
  clientReference: string;
  /** The issuer's id. */
  card: string;
  amountMinor: bigint;
  currency: 'NGN';
  /** When we decided to send: an issuer may refuse what is too old. */
  requestedAt: Date;
};

export type FundingState =
  | { kind: 'funded'; amountMinor: bigint | null }
  | { kind: 'rejected'; code: string }
  | { kind: 'reversed'; amountMinor: bigint | null }
  | { kind: 'pending' };

export type FundAnswer = CallTrace & (FundingState | Throttled | Unknown);
export type FindFundingAnswer = CallTrace & (FundingState | NotFound | Unknown);

/** `reversed`: nothing of this funding is on the card, and nothing will be. May be asked for again and again. */
export type ReverseAnswer = CallTrace &
  ({ kind: 'reversed' } | { kind: 'rejected'; code: string } | NotFound | Throttled | Unknown);

export type IssuerCardState = 'open' | 'locked' | 'closed';

export type StateOrder = {
  /** The issuer's id. */
  card: string;
  state: IssuerCardState;
  /** Grows with every order about this card: an older one never overwrites a newer. */
  version: number;
  /** The tenant's request id, or our id of the operation. */
  clientReference: string;
  requestedAt: Date;
};

/** Refused as `superseded`: a newer version has been set. */
export type SetStateAnswer = CallTrace &
  ({ kind: 'set' } | { kind: 'rejected'; code: string } | Throttled | Unknown);

export type ReadStateAnswer = CallTrace &
  ({ kind: 'state'; state: IssuerCardState; version: number } | NotFound | Unknown);

/** Something that happened to a card, a funding or an authorization. */
export type CardEventState =
  | { subject: 'card'; state: IssueState }
  | { subject: 'funding'; state: FundingState }
  | { subject: 'authorization'; state: AuthorizationState };

export type AuthorizationState =
  /** Also where we have approved it and the issuer did not hear us: what was held for it is free. */
  | { kind: 'declined'; code: string }
  /** What was taken, which may be less or more than was authorized; the rest is free. */
  | { kind: 'cleared'; amountMinor: bigint }
  | { kind: 'reversed' }
  | { kind: 'expired' };

export type CardEvent = {
  /** Equal for repeats of one event: the issuer's event id, or a hash of the body. */
  dedupeKey: string;
  /** The issuer's id. */
  card: string | null;
  /** Our id of the card or of the operation, or the token of the authorization. */
  reference: string | null;
  /** Our name for it, `card.funded` for one. */
  name: string;
  state: CardEventState;
  occurredAt: Date | null;
};

/** Someone pays with the card at this moment, and waits. Asked again with the same token: the same decision. */
export type AuthorizationRequest = {
  token: string;
  /** The issuer's id. */
  card: string;
  amountMinor: bigint;
  /** ISO 4217. Cards here have naira only, but merchants abroad may ask for something else. */
  currency: string;
  channel: 'online' | 'pos' | 'atm' | 'contactless';
  merchant: {
    name: string;
    /** Four digits, ISO 18245. */
    category: string;
    /** Two letters, ISO 3166. */
    country: string;
  };
  requestedAt: Date;
};

/** A real-time authorization request is no event: its answer carries the decision. */
export type AuthorizationReading = { kind: 'authorization'; request: AuthorizationRequest };

export type AuthorizationDecision = { approved: boolean; code: string };

/** The port of card issuers. */
export type CardIssuer = MessageReader<CardEvent, AuthorizationReading> & {
  name: string;
  cards: CardCapabilities;
  issue(order: CardOrder, signal: AbortSignal): Promise<IssueAnswer>;
  findCard(reference: string, signal: AbortSignal): Promise<FindCardAnswer>;
  fund(order: FundingOrder, signal: AbortSignal): Promise<FundAnswer>;
  findFunding(reference: string, signal: AbortSignal): Promise<FindFundingAnswer>;
  reverseFunding(reference: string, signal: AbortSignal): Promise<ReverseAnswer>;
  setState(order: StateOrder, signal: AbortSignal): Promise<SetStateAnswer>;
  /** By the issuer's id. */
  readState(card: string, signal: AbortSignal): Promise<ReadStateAnswer>;
  /** The answer to an authorization request, as the issuer wants it. */
  renderDecision(decision: AuthorizationDecision): { status: number; body: object };
};
