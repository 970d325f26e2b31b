import type { Absence, UnknownReason } from '../providers/transfer-provider.js';
import type { InstructionStatus } from './instruction.js';

/**
 * What crosses Temporal for every record that is pursued: kinds, codes and references. No account number, name or
 * provider's text may be added here, for it would stay in workflow histories. Amounts are integers in kobo.
 */
export type RecordRef = { tenantId: string; id: string };

/** Settings that a workflow gets at its start, because a replay must not read configuration. */
export type InstructionPolicy = {
  attentionAfterMs: number;
  pollMaxMs: number;
};

/** Input of the workflow of one instruction. */
export type InstructionInput = RecordRef & {
  /** Rate limit that a local submission takes from. */
  rateLimitKey: string;
  /** Task queue of the provider's calls, with a rate limit of its own. */
  taskQueue: string;
  /** Attention is raised `policy.attentionAfterMs` after this, however often the run is replaced. */
  acceptedAtMs: number;
  policy: InstructionPolicy;
};

/** Public face of an instruction's workflow. `type` is the workflow's type and part of its activities' names. */
export type InstructionContract<Type extends string = string> = {
  type: Type;
  labels: InstructionLabels;
};

/**
 * A capability's nouns and verbs for its record, its provider and the provider's work. They complete sentences for
 * operators, for example "The {provider} confirms that it did not {pay}".
 */
export type InstructionLabels = {
  record: string;
  provider: string;
  payment: string;
  pay: string;
  paid: string;
  /** State of the money or the card while the record is open: "The money is held". */
  meanwhile: string;
  /** Effect of an operator's `fail`. */
  release: string;
  /** Effect of a payment that is proven after a forced `fail`; null if nothing is monitored. */
  late: string | null;
  /** Effect of an operator's `complete` on such a payment. */
  suspenseDebit: string;
};

type ResultSource = { providerRequestId: string | null; via: 'provider_answer' | 'poll' };

/**
 * A fact as a report: something that ends the record or stands against what is booked. `Own` are kinds that only one
 * capability has. See PursuitFact for the names.
 */
export type FactResult<Own = never> = ResultSource &
  (
    | { kind: 'succeeded'; amountMinor: number | null; sessionId: string | null }
    | { kind: 'reversed'; amountMinor: number | null; sessionId: string | null }
    | { kind: 'rejected'; code: string; ifNotSubmitted?: boolean }
    | { kind: 'operator_confirmed' }
    | Own
  );

/** How often the order was let out, and how often it may have been taken: the rest was explicitly not. */
export type SubmissionCounts = { submissions: number; possibleSubmissions: number };

/** What a provider call came to. `sends` is how often the order has been let out so far. */
export type ProviderCallResult =
  | FactResult
  /**
   * `idle`: it is somebody else's turn, and nobody is late. `untilMs`: to be asked again within that. `watched`: the
   * record has been given up, and nobody waits for it.
   */
  | { kind: 'pending'; idle?: boolean; untilMs?: number; monitored?: boolean }
  | ({ kind: 'throttled'; retryAfterMs: number } & SubmissionCounts)
  /** Explicitly not done, for a reason that passes: sent again until the provider agrees. */
  | ({ kind: 'rejected_temporarily'; code: string } & SubmissionCounts)
  | ({ kind: 'unknown'; reason: UnknownReason | 'activity_failed' } & Partial<SubmissionCounts>)
  /** Asked and not found: proves absence only as far as the provider's capability says, as its adapter declares it. */
  | ({ kind: 'not_found'; resendSafety: Absence } & SubmissionCounts)
  /** Somebody else has the permission to send: ask the provider. */
  | { kind: 'permit_denied'; attention: string | null }
  /** The order was never let out; `afterMs`: and must not be before that. */
  | ({ kind: 'not_submitted'; afterMs?: number } & SubmissionCounts)
  /** Something else is proven than was ordered: nothing is booked, and an operator decides. */
  | { kind: 'mismatch'; attention: string }
  /** The record has come to its end, by this or another way; `attention` says what an operator still has to see. */
  | { kind: 'closed'; attention: string | null };

/** Nothing was sent from where the workflow runs: the provider's queue is the way. */
export type NotAttempted = { kind: 'not_attempted' };

/** How the record stands, for an operator's command. */
export type StatusReport = { status: InstructionStatus; attention: string | null };

/** How the record stands after a fact; still open where the fact did not fit what was ordered. */
export type ApplyOutcomeResult = StatusReport & {
  /** The provider is asked on, for a payment that may show up although the record was given up. */
  monitored: boolean;
};

/** What an operator asked for. Reason and actor are for the timeline. */
export type OperatorCommand = {
  kind: 'retry' | 'verify' | 'complete' | 'fail';
  actor: string;
  reason: string;
  /** The provider's own id of the payment as the operator has it from there; has to be the one that it reports. */
  sessionId: string | null;
  /** With `fail`: release although the provider is silent or undecided, and watch on. */
  force: boolean;
};

/** A command as it is sent. */
export type OperatorPayload = {
  actor: string;
  reason: string;
  session_id: string | null;
  force: boolean;
};

export type OperatorAnswer = { done: boolean; message: string };

export type SubmitInput = RecordRef & {
  /** How often the order has left us so far: names the one permission that this call may take. */
  submissions: number;
  /** The timeline has it already that the provider does not take orders now. */
  suppressTimeline?: boolean;
};

export type VerifyInput = RecordRef & {
  nextPollMs: number;
  /** Ask although the record is closed: an operator wants to know what the provider says. */
  evenIfClosed?: boolean;
};

export type ApplyOutcomeInput<Own = never> = RecordRef & {
  fact: FactResult<Own>;
  /** Who brought the fact about, where it was not the provider alone. */
  operator?: { actor: string; reason: string };
};

/** The activities that differ by capability. Each capability registers them under names of its own. */
export type ProviderActivities<Own = never> = {
  /** Takes the submit permit that `submissions` names and uses it, at once and at most once. */
  submit: (input: SubmitInput) => Promise<ProviderCallResult>;
  /** The same in the workflow's own process, if local-submission-limiter.ts allows it now. */
  submitLocally?: (
    input: SubmitInput & { rateLimitKey: string },
  ) => Promise<ProviderCallResult | NotAttempted>;
  /** Asks the provider for the outcome of our reference. Submits nothing. */
  verify: (input: VerifyInput) => Promise<ProviderCallResult>;
  /** Applies an outcome through the record's transitions. Repeatable without limit. */
  applyOutcome: (input: ApplyOutcomeInput<Own>) => Promise<ApplyOutcomeResult>;
};

/** All activities of one instruction, as its workflow calls them. */
export type InstructionActivities<Own = never> = ProviderActivities<Own> & {
  readInstructionStatus: (ref: RecordRef) => Promise<StatusReport>;
  recordOperatorCommand: (note: RecordRef & { actor: string; detail: string }) => Promise<void>;
  raiseAttention: (call: RecordRef & { reason: string }) => Promise<void>;
  recordCancellationRequest: (ref: RecordRef) => Promise<void>;
};
