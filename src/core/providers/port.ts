/**
 * The types that all ports share. A provider is one folder that implements ports, one line for each in `registry.ts` and
 * one run of the contract suite of each port. Ports answer with plain values: a missing answer is the value `unknown`, only
 * an explicit answer is terminal, and no answer makes a method throw.
 */

/** A fault that concerns the whole provider: its first submissions stop, and an operator is called once. */
export type Fault =
  'credentials' | 'environment' | 'float' | 'otp_required' | 'suspended' | 'bad_request';

/** The provider's own id of the call, for its support desk, and a fault of the whole provider. */
export type Trace = { providerRequestId: string | null; fault?: Fault };

/** The fault of an answer, as a part of another one. */
export const faultOf = ({ fault }: Trace): Pick<Trace, 'fault'> =>
  fault === undefined ? {} : { fault };

/**
 * The answer to a single request. Scope `instruction`: nothing will ever happen under this reference. Scope `request`: this
 * request did nothing, and an earlier one may have. Without a scope it is `instruction`.
 */
export type Rejected = { kind: 'rejected'; code: string; scope?: 'request' | 'instruction' };

/** Explicitly not accepted: safe to submit again after the pause, without a query. */
export type Throttled = { kind: 'throttled'; retryAfterMs: number };

/**
 * This request did nothing and may be sent again after the pause. `float`: our balance at the provider is too small.
 * `suspended`: the provider accepts nothing from us. `stale_handle`: the handle is void, and must be prepared again.
 */
export type NotNow =
  | Throttled
  | {
      kind: 'rejected_temporarily';
      reason: 'float' | 'suspended' | 'stale_handle';
      afterMs: number;
    };

/** The provider does not know the reference. Its resend safety says what that proves. */
export type NotFound = { kind: 'not_found' };

/** The reason why an outcome is unknown. */
export type UnknownReason =
  | 'timeout'
  | 'connection'
  | 'server_error'
  | 'unreadable'
  | 'throttled'
  /** A word or a code that the adapter has no entry for. `word` names it, if it looks like an identifier. */
  | 'unrecognized'
  /** The provider has another request under this reference: verify. */
  | 'conflict'
  /** The answer is about another instruction, currency or environment. */
  | 'mismatch'
  /** Refused for its age: this request did nothing, which proves nothing about an earlier one. */
  | 'too_old';

/** The request may have been executed or not. */
export type Unknown = { kind: 'unknown'; reason: UnknownReason; word?: string };

/** The answer to a question that was not sent, because it has used the calls that it may make. */
export const NOT_ASKED = { kind: 'unknown', reason: 'throttled', providerRequestId: null } as const;

/** The answer to a preparation that was not sent, because no call is left for it. It says nothing about the provider. */
export const NO_TURN = { kind: 'no_turn', providerRequestId: null } as const;

/** Makes one request that may move money. It sends nothing twice, and nothing after its signal was aborted. */
export type Submit<Request, State> = (
  request: Request,
  signal: AbortSignal,
) => Promise<Trace & (State | Rejected | NotNow | Unknown)>;

/** Asks the provider. A repeat has no further effect. */
export type Verify<About, State> = (
  about: About,
  signal: AbortSignal,
) => Promise<Trace & (State | Rejected | NotFound | Unknown)>;

/**
 * An instruction at its provider: our reference, and the provider's id where the record has it. An answer is about the reference: an
 * adapter that looks up by the id says "not found" only if the reference is not known either, and otherwise that it does not know.
 */
export type About = { reference: string; handle: string | null };

/** The provider is ready for the submission. Nothing has moved; `handle` is the provider's id of the preparation. */
export type Ready = { kind: 'ready'; handle: string | null };

/** A part of a provider's list. `cursor` continues one. */
export type Window = { from: Date; to: Date; cursor: string | null };

/** One page of a provider's list. `next` is the cursor of the next page. */
export type Page<Item> = { kind: 'page'; items: Item[]; next: string | null };

/** Meaning of "not found" at a provider, after a request that was not answered. */
export type ResendSafety =
  /**
   * The same reference may be submitted again: the provider executes it once. `forMs` counts from the first submission, and
   * a repeat may be under way for some time after it; null means without end. `pauseMs` passes after the last request
   * ended, so that two requests are never processed at once.
   */
  | { kind: 'idempotent'; forMs: number | null; pauseMs?: number }
  /** Two "not found" this far apart, both after our connection was closed, prove that nothing was done. */
  | { kind: 'conclusive_after'; ms: number }
  /** A cancellation decides: the provider's answer to it is final. */
  | { kind: 'fence' }
  /** Nothing proves absence: never submit again, an operator decides. */
  | { kind: 'never' };

/** The properties of a provider's port that do not depend on what the port does. */
export type Traits<Call extends string> = {
  /** ISO 4217. */
  currencies: readonly string[];
  /** Mapping of our ids to references that the provider allows, and back. `toOurs`: null if it is none of ours. */
  references: {
    pattern: RegExp;
    maxLength: number;
    toTheirs(id: string): string;
    toOurs(theirs: string): string | null;
  };
  /** The rate of each call; the slowest bounds the port. `bucket` names the provider's limit that the rate is from. */
  rates: Readonly<Record<Call, { bucket: string; perSecond: number }>>;
  /** The name of a rate that the provider's ports share; left out if this port has one of its own. */
  bucket?: string;
};

/** References of a provider that takes ours as they are. */
export const OWN_REFERENCES: Traits<never>['references'] = {
  pattern: /^[a-z0-9_-]+$/,
  maxLength: 100,
  toTheirs: (id) => id,
  toOurs: (theirs) => theirs,
};
