import type { MessageReader } from './provider-message.js';
import type { ResendSafety, CallTrace, NotFound, Throttled, Unknown } from './transfer-provider.js';

/**
 * The port of card issuers. As for transfers: plain values, a missing answer is the value `unknown`, only an explicit
 * answer is terminal, and no answer makes a method throw. No card number and no security code passes here in either
 * direction.
 */

/** The properties of an issuer that decide how it is called. */
type CardTraits = {
  /** Meaning of "not found" for a funding or an unloading that was not answered. A card is always issued once per reference. */
  resendSafety: ResendSafety;
  /** The holder of the cards' balances. With `ours` nothing is funded, unloaded or reversed at the issuer. */
  balances: 'issuer' | 'ours';
  /** Bound of our calls to this issuer over all workers. */
  callsPerSecond: number;
};

/** A request to issue a card. */
export type CardRequest = {
  /** Our id of the card. */
  reference: string;
  /** The tenant's id of the customer. */
  clientReference: string;
  type: 'virtual' | 'physical';
  /** To be printed on the card. */
  name: string | null;
  requestedAt: Date;
};

/** A card at its issuer. `card` is the issuer's id, which contains no part of the card number. */
export type IssuedCard = {
  card: string;
  brand: string;
  last4: string;
  expiryMonth: number;
  expiryYear: number;
};

/** The state of an issuance. Codes and reasons are those of Bursar, here and below, never the issuer's own text. */
export type IssueState =
  ({ kind: 'issued' } & IssuedCard) | { kind: 'pending' } | { kind: 'rejected'; code: string };

/** The answer to a request to issue a card. */
export type IssueAnswer = CallTrace & (IssueState | Throttled | Unknown);
/** The answer to the query of an issuance by its reference. */
export type FindCardAnswer = CallTrace & (IssueState | NotFound | Unknown);

/** A request to move money to a card, or from it. The issuer executes one reference once. */
export type CardFundingRequest = {
  /** Our id of the operation. */
  reference: string;
  /** The tenant's transaction reference. */
  clientReference: string;
  /** The issuer's id. */
  card: string;
  amountMinor: bigint;
  currency: 'NGN';
  /** The time of the decision to submit: an issuer may refuse a request that is too old. */
  requestedAt: Date;
};

/** The state of a funding at the issuer. Amounts are null if the issuer does not report them. */
export type FundingState =
  | { kind: 'funded'; amountMinor: bigint | null }
  | { kind: 'rejected'; code: string }
  | { kind: 'reversed'; amountMinor: bigint | null }
  | { kind: 'pending' };

/** The state of an unloading at the issuer: money of a card is given back to us. `reversed`: it is on the card again. */
export type UnloadState =
  { kind: 'unloaded'; amountMinor: bigint | null } | Exclude<FundingState, { kind: 'funded' }>;

/** The answer to a request to unload a card. */
export type UnloadAnswer = CallTrace & (UnloadState | Throttled | Unknown);
/** The answer to the query of an unloading by its reference. */
export type FindUnloadAnswer = CallTrace & (UnloadState | NotFound | Unknown);

/** The answer to a request to fund a card. */
export type FundAnswer = CallTrace & (FundingState | Throttled | Unknown);
/** The answer to the query of a funding by its reference. */
export type FindFundingAnswer = CallTrace & (FundingState | NotFound | Unknown);

/** `reversed`: nothing of this funding is on the card, and nothing will be. The request is safe to repeat. */
export type ReverseAnswer = CallTrace &
  ({ kind: 'reversed' } | { kind: 'rejected'; code: string } | NotFound | Throttled | Unknown);

/** The state of a card at its issuer. A closed card stays closed. */
export type IssuerCardState = 'open' | 'locked' | 'closed';

/** A request to set the state of a card. */
export type CardStateRequest = {
  /** The issuer's id. */
  card: string;
  state: IssuerCardState;
  /** Grows with every request for this card: an older one never overwrites a newer one. */
  version: number;
  /** The tenant's request id, or our id of the operation. */
  clientReference: string;
  requestedAt: Date;
};

/** The answer to a request to set the state. Rejected as `superseded`: a newer version has been set. */
export type SetStateAnswer = CallTrace &
  ({ kind: 'set' } | { kind: 'rejected'; code: string } | Throttled | Unknown);

/** The state of a card at its issuer, with the version that set it. */
export type ReadStateAnswer = CallTrace &
  ({ kind: 'state'; state: IssuerCardState; version: number } | NotFound | Unknown);

/** The subject of an event, and its new state. */
export type CardEventState =
  | { subject: 'card'; state: IssueState }
  | { subject: 'funding'; state: FundingState }
  | { subject: 'unload'; state: UnloadState }
  | { subject: 'authorization'; state: AuthorizationState };

/**
 * A report about an authorization, as the issuer makes it after or in place of the decision. `messageId` is the issuer's id
 * of this report, or, of an approval or a decline, of the request that it decides; null if the issuer has none.
 */
export type AuthorizationState =
  /** The issuer or the network has approved in our place. */
  | { kind: 'approved'; messageId: string; amountMinor: bigint; standIn: 'issuer' | 'network' }
  /** Also if Bursar approved it and the issuer did not get the answer: its hold is released. Null: all requests so far. */
  | { kind: 'declined'; messageId: string | null; code: string }
  | ({ messageId: string | null } & (
      | {
          kind: 'cleared';
          /** It may be less or more than the authorized amount. */
          amountMinor: bigint;
          /** False: more of the hold may be cleared later. */
          final: boolean;
        }
      /** Null: all that is held and taken. */
      | { kind: 'reversed'; amountMinor: bigint | null }
      | { kind: 'expired' }
      /** The merchant returns money, or takes that back; the cleared amount is corrected (negative: it is less). */
      | { kind: 'refunded' | 'refund_reversed' | 'corrected'; amountMinor: bigint }
    ));

/** An event of a card, a funding or an authorization, as its issuer reports it. */
export type CardEvent = {
  /** Equal for repeats of one event: the issuer's event id, or a hash of the body. */
  dedupeKey: string;
  /** The issuer's id. */
  card: string | null;
  /** Our id of the card or of the operation, or the token of the authorization. */
  reference: string | null;
  /** Our name of the event, for example `card.funded`. */
  name: string;
  state: CardEventState;
  occurredAt: Date | null;
};

/**
 * A request about a payment that waits for a decision. A repeat of the message gets the same decision; another message of the
 * payment, such as an increment, is decided by itself, and its amount is held on top.
 */
export type AuthorizationRequest = {
  /** The issuer's name of the payment, which all messages about it have. */
  token: string;
  /** The issuer's id of this message. */
  messageId: string;
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

/** The decision about an authorization request. `code` is the reason of a decline. */
export type AuthorizationDecision = { approved: boolean; code: string };

/** A report about an authorization with its time, as the issuer lists it. */
export type AuthorizationReport = { state: AuthorizationState; at: Date };

/** The answer to the query of an authorization by its token. `over`: nothing is held at the issuer. */
export type FindAuthorizationAnswer = CallTrace &
  ({ kind: 'authorization'; over: boolean; reports: AuthorizationReport[] } | NotFound | Unknown);

/** The port of card issuers. */
export type CardIssuer = MessageReader<CardEvent, AuthorizationReading> & {
  name: string;
  cards: CardTraits;
  issue(request: CardRequest, signal: AbortSignal): Promise<IssueAnswer>;
  findCard(reference: string, signal: AbortSignal): Promise<FindCardAnswer>;
  fund(request: CardFundingRequest, signal: AbortSignal): Promise<FundAnswer>;
  findFunding(reference: string, signal: AbortSignal): Promise<FindFundingAnswer>;
  reverseFunding(reference: string, signal: AbortSignal): Promise<ReverseAnswer>;
  /** Moves money from a card back to us, also from a closed card. Absent where the balances are ours. */
  unload?(request: CardFundingRequest, signal: AbortSignal): Promise<UnloadAnswer>;
  findUnload?(reference: string, signal: AbortSignal): Promise<FindUnloadAnswer>;
  setState(request: CardStateRequest, signal: AbortSignal): Promise<SetStateAnswer>;
  /** By the issuer's id. */
  readState(card: string, signal: AbortSignal): Promise<ReadStateAnswer>;
  /** Everything that was reported about a payment; a report has the same message id as in its own message. */
  findAuthorization(token: string, signal: AbortSignal): Promise<FindAuthorizationAnswer>;
  /** The answer to an authorization request, as the issuer wants it. */
  renderDecision(decision: AuthorizationDecision): { status: number; body: object };
};
