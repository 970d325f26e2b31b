import type { About, Traits } from './port.js';
import type { MessageReader } from './provider-message.js';
import type { ResendSafety, CallTrace, NotFound, Throttled, Unknown } from './transfer-provider.js';

/**
 * The port of card issuers. As for transfers: plain values, a missing answer is the value `unknown`, only an explicit
 * answer is terminal, and no answer makes a method throw. No card number and no security code passes here in either
 * direction.
 */

/** The kinds of calls, each with a rate of its own. `find`: every question, of whatever subject. */
export type CardCall = 'issue' | 'state' | 'fund' | 'unload' | 'dispute' | 'find';

/** The properties of an issuer that decide how it is called. */
type CardTraits = Traits<CardCall> & {
  /** Meaning of "not found" for a funding or an unloading that was not answered. A card is always issued once per reference. */
  resendSafety: ResendSafety;
  /** The holder of the cards' balances. With `ours` nothing is funded, unloaded or reversed at the issuer. */
  balances: 'issuer' | 'ours';
  /**
   * The party that keeps changes of a card's state in order. `issuer`: an older version never overwrites a newer one.
   * `ours`: versions are ignored, so one request per card is in flight, and the state is read after each.
   */
  stateSequence: 'issuer' | 'ours';
  /** The types of cards that the issuer issues with what Bursar knows of the holder. */
  types: readonly CardRequest['type'][];
  /**
   * How long the issuer waits for a decision, its own act if none comes (a decline, an approval in our place, or what is set at the
   * issuer), and whether it repeats the request first. Operators read the last two; a repeat and a stand-in are handled wherever they come.
   */
  decision: {
    deadlineMs: number;
    onSilence: 'decline' | 'stand_in' | 'configured';
    asksAgain: boolean;
  };
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
  /** True if the card cannot be used until its state is set to `open`. */
  needsActivation: boolean;
};

/** The state of an issuance. Codes and reasons are those of Bursar, here and below, never the issuer's own text. */
export type IssueState =
  ({ kind: 'issued' } & IssuedCard) | { kind: 'pending' } | { kind: 'rejected'; code: string };

/** The issuer's id of what it answers about, if questions are to name it. The record keeps it from the answer to a submission. */
type Named = { handle?: string };

/** The answer to a request to issue a card. */
export type IssueAnswer = CallTrace & Named & (IssueState | Throttled | Unknown);
/** The answer to the query of an issuance. */
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

/**
 * The state of an unloading at the issuer: money of a card is given back to us. `reversed`: it is on the card again. The amount is
 * what was taken back so far; less than was given back means a part.
 */
export type UnloadState =
  { kind: 'unloaded'; amountMinor: bigint | null } | Exclude<FundingState, { kind: 'funded' }>;

/** The answer to a request to unload a card. */
export type UnloadAnswer = CallTrace & Named & (UnloadState | Throttled | Unknown);
/** The answer to the query of an unloading. */
export type FindUnloadAnswer = CallTrace & (UnloadState | NotFound | Unknown);

/** The answer to a request to fund a card. */
export type FundAnswer = CallTrace & Named & (FundingState | Throttled | Unknown);
/** The answer to the query of a funding. */
export type FindFundingAnswer = CallTrace & (FundingState | NotFound | Unknown);

type MovedAnswer = FundAnswer | FindFundingAnswer | UnloadAnswer | FindUnloadAnswer;

/** An answer in the kinds that all instructions share: `funded` and `unloaded` are `succeeded`. */
export function asPaymentAnswer<Answer extends MovedAnswer>(answer: Answer) {
  type Kept = Exclude<Answer, { kind: 'funded' | 'unloaded' | 'reversed' }>;
  const { kind } = answer;
  if (kind !== 'funded' && kind !== 'unloaded' && kind !== 'reversed') return answer as Kept;
  const { amountMinor, providerRequestId } = answer;
  const payment = { amountMinor, sessionId: null, providerRequestId, ...namedBy(answer) };
  return { ...payment, kind: kind === 'reversed' ? kind : ('succeeded' as const) };
}

/** The issuer's id in an answer, as a part of another one. */
export const namedBy = (answer: object): Named =>
  'handle' in answer && typeof answer.handle === 'string' ? { handle: answer.handle } : {};

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

/** The answer to a request to set the state. Rejected as `superseded`: a newer version has been set; as
 * `locked_by_issuer`: the issuer has locked the card by itself. */
export type SetStateAnswer = CallTrace &
  ({ kind: 'set' } | { kind: 'rejected'; code: string } | Throttled | Unknown);

/**
 * The state of a card as its issuer reports it. `changedBy`: the party that made the latest change; null: none was made. It is the
 * issuer as long as a lock of its own stands, also if we have changed the state beneath it: so a card that is locked by us has no
 * lock of the issuer any more.
 */
export type ReportedCardState = {
  kind: IssuerCardState | 'inactive';
  changedBy: 'us' | 'issuer' | null;
};

/**
 * The state of a card at its issuer, with the version that set it; 0 if the issuer has no versions. `changedAt`: the time of the
 * latest change, by the clock of the issuer's messages; null if the issuer does not tell.
 */
export type ReadStateAnswer = CallTrace &
  (
    | {
        kind: 'state';
        state: ReportedCardState['kind'];
        changedBy: ReportedCardState['changedBy'];
        changedAt: Date | null;
        version: number;
      }
    | NotFound
    | Unknown
  );

/** The reasons of a dispute. An adapter maps each to a reason of its issuer. */
export const CARD_DISPUTE_REASONS = [
  'fraud',
  'not_received',
  'duplicate',
  'not_as_described',
  'cancelled',
  'other',
] as const;
/** A reason of a dispute. */
export type CardDisputeReason = (typeof CARD_DISPUTE_REASONS)[number];

/** A dispute of a payment, which the issuer pursues against the merchant. */
export type CardDisputeRequest = {
  /** Our id of the operation. */
  reference: string;
  /** The tenant's transaction reference. */
  clientReference: string;
  /** The issuer's id. */
  card: string;
  /** The issuer's name of the payment. */
  token: string;
  amountMinor: bigint;
  currency: 'NGN';
  reason: CardDisputeReason;
  /** The tenant's own words. */
  explanation: string;
  requestedAt: Date;
};

/**
 * A report about a dispute. `messageId` identifies it, alike in its message and in the answer to a query, because a credit
 * must not count twice. `submitted`: the issuer pursues it. `credited`: it gives a provisional credit, and takes it back with
 * `credit_reversed`. `won` names the amount that stays with us; after `lost` and `withdrawn` nothing does.
 */
export type CardDisputeState = { messageId: string } & (
  | { kind: 'submitted' | 'lost' | 'withdrawn' }
  | { kind: 'rejected'; code: string }
  | { kind: 'credited' | 'credit_reversed' | 'won'; amountMinor: bigint }
);

/** A report about a dispute with its time, as the issuer lists it. */
export type CardDisputeReport = { state: CardDisputeState; at: Date };

/** The answer to the submission of a dispute. `pending`: the issuer has it, and reports later that it pursues it. */
export type SubmitDisputeAnswer = CallTrace &
  Named &
  (
    | { kind: 'submitted' }
    | { kind: 'pending' }
    | { kind: 'rejected'; code: string }
    | Throttled
    | Unknown
  );
/** The answer to the query of a dispute: everything that was reported. Without a report it is pending. */
export type FindDisputeAnswer = CallTrace &
  ({ kind: 'dispute'; reports: CardDisputeReport[] } | NotFound | Unknown);
/** The answer to the withdrawal of a dispute. The request is safe to repeat. */
export type WithdrawDisputeAnswer = CallTrace &
  ({ kind: 'withdrawn' } | { kind: 'rejected'; code: string } | Throttled | Unknown);

/** The subject of an event, and its new state. */
export type CardEventState =
  | { subject: 'card'; state: IssueState }
  | { subject: 'card_state'; state: ReportedCardState }
  | { subject: 'funding'; state: FundingState }
  | { subject: 'unload'; state: UnloadState }
  | { subject: 'authorization'; state: AuthorizationState }
  | { subject: 'card_dispute'; state: CardDisputeState };

/**
 * A report about an authorization, as the issuer makes it after or in place of the decision. `messageId` is the issuer's id
 * of this report, or, of an approval, a decline or the clearing of a financial request, of the request that it is about. It is
 * equal in a message and in `findAuthorization`, because a report must not count twice: an adapter makes one of what both have
 * if the issuer has none.
 */
export type AuthorizationState = { messageId: string } &
  /** The issuer or the network has approved in our place. */
  (
    | { kind: 'approved'; amountMinor: bigint; standIn: 'issuer' | 'network' }
    /** Also if Bursar approved it and the issuer did not get the answer: its hold is released. `whole`: all requests so far. */
    | { kind: 'declined'; whole: boolean; code: string }
    | {
        kind: 'cleared';
        /** It may be less or more than the authorized amount. */
        amountMinor: bigint;
        /** False: more of the hold may be cleared later. */
        final: boolean;
        /** The network takes the money without a request for a decision. */
        forced: boolean;
      }
    /** Null: all that is held and taken. */
    | { kind: 'reversed'; amountMinor: bigint | null }
    | { kind: 'expired' }
    /** The merchant returns money, or takes that back; the cleared amount is corrected (negative: it is less). */
    | { kind: 'refunded' | 'refund_reversed' | 'corrected'; amountMinor: bigint }
  );

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
  /** The reports of a message about an authorization that has several, in place of `state`; each is a fact of its own. */
  reports?: readonly AuthorizationReport[];
};

/**
 * The kinds of requests. A `verification` and a `balance_inquiry` hold nothing, and the answer to the latter has the balance;
 * a `financial` one clears at once; a `credit` is money for the card.
 */
export type AuthorizationKind =
  'authorization' | 'increment' | 'verification' | 'balance_inquiry' | 'financial' | 'credit';

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
  kind: AuthorizationKind;
  /** `step`: the amount comes on top of what was approved of the payment. `total`: it is the new total. */
  basis: 'step' | 'total';
  amountMinor: bigint;
  /** The amount to hold, if it is another one. */
  holdMinor: bigint | null;
  /** True if less than the amount may be approved. */
  partialApproval: boolean;
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
  /** The part of the amount that the cardholder gets in cash; null if the issuer does not say. */
  cashMinor: bigint | null;
  /** The amount in the merchant's currency and its minor units; null if the issuer does not say. */
  merchantAmount: { amountMinor: bigint; currency: string } | null;
  /** The party that began the payment; null if the issuer does not say. */
  initiator: 'cardholder' | 'merchant' | null;
  /** The end of the hold that the issuer names: it is asked about the hold then. Null if it names none. */
  holdUntil: Date | null;
  /**
   * The time by which the issuer wants this decision, by our clock; null if it names none. `decision.deadlineMs` counts all the same.
   */
  answerBy: Date | null;
  requestedAt: Date;
};

/** A real-time authorization request is no event: its answer carries the decision. */
export type AuthorizationReading = { kind: 'authorization'; request: AuthorizationRequest };

/** The decision about an authorization request. `code` is the reason of a decline. */
export type AuthorizationDecision = {
  approved: boolean;
  code: string;
  /** The approved amount; zero for a decline, and where nothing is held. */
  approvedMinor: bigint;
  /** The balance that can be spent, of a balance inquiry; otherwise null. */
  availableMinor: bigint | null;
};

/** A report about an authorization with its time, as the issuer lists it. */
export type AuthorizationReport = { state: AuthorizationState; at: Date };

/**
 * The answer to the query of an authorization by its token. `over`: nothing is held at the issuer. `approved`: the message ids of
 * the requests of which it has received our approval, so that `over` does not end the hold of one that is on its way.
 */
export type FindAuthorizationAnswer = CallTrace &
  (
    | {
        kind: 'authorization';
        over: boolean;
        approved: readonly string[];
        reports: AuthorizationReport[];
      }
    | NotFound
    | Unknown
  );

/** The port of card issuers. */
export type CardIssuer = MessageReader<CardEvent, AuthorizationReading> & {
  name: string;
  cards: CardTraits;
  issue(request: CardRequest, signal: AbortSignal): Promise<IssueAnswer>;
  findCard(about: About, signal: AbortSignal): Promise<FindCardAnswer>;
  fund(request: CardFundingRequest, signal: AbortSignal): Promise<FundAnswer>;
  findFunding(about: About, signal: AbortSignal): Promise<FindFundingAnswer>;
  reverseFunding(about: About, signal: AbortSignal): Promise<ReverseAnswer>;
  /** Moves money from a card back to us, also from a closed card. Absent where the balances are ours. */
  unload?(request: CardFundingRequest, signal: AbortSignal): Promise<UnloadAnswer>;
  findUnload?(about: About, signal: AbortSignal): Promise<FindUnloadAnswer>;
  /** Absent where the issuer takes no disputes. With it comes `findDispute`. */
  submitDispute?(request: CardDisputeRequest, signal: AbortSignal): Promise<SubmitDisputeAnswer>;
  findDispute?(about: About, signal: AbortSignal): Promise<FindDisputeAnswer>;
  /** Absent where a dispute cannot be withdrawn. */
  withdrawDispute?(about: About, signal: AbortSignal): Promise<WithdrawDisputeAnswer>;
  setState(request: CardStateRequest, signal: AbortSignal): Promise<SetStateAnswer>;
  /** By the issuer's id. */
  readState(card: string, signal: AbortSignal): Promise<ReadStateAnswer>;
  /** Everything that was reported about a payment; a report has the same message id as in its own message. */
  findAuthorization(token: string, signal: AbortSignal): Promise<FindAuthorizationAnswer>;
  /** The answer to an authorization request, as the issuer wants it. It may have to repeat parts of the request. */
  renderDecision(
    request: AuthorizationRequest,
    decision: AuthorizationDecision,
  ): { status: number; headers?: Record<string, string>; body: object };
};
