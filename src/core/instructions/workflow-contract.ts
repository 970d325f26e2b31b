import type { ResendSafety, UnknownReason } from '../providers/transfer-provider.js';
import type { InstructionStatus } from './instruction.js';

/**
 * An instruction within its capability. Everything in this file is in workflow histories, which keep it: no account
 * number, name or provider's text may be added. Amounts are integers in kobo.
 */
export type RecordRef = { tenantId: string; id: string };

/** Limit of possible submissions of one instruction. Each one after the first needs proof that the last had no effect. */
export const MAX_SUBMISSIONS = 4;

/** Consecutive unknown outcomes after which an error answer of the provider raises attention. */
export const MAX_ERRORS = 12;

/**
 * Settings that a workflow gets at its start, because a replay must not read configuration, nor a constant that another
 * version of the code may change: they decide the commands of running workflows.
 */
export type InstructionPolicy = {
  attentionAfterMs: number;
  pollMaxMs: number;
  /** Possible submissions before an operator is called. */
  maxSubmissions: number;
  /** Unknown outcomes in a row after which an error answer calls an operator. */
  maxErrors: number;
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
  /** Effect of a forced `fail` on a completed payment that the provider rejects by now; left out if it is not possible. */
  returned?: string;
  /**
   * Effect of a forced `fail` where the provider's report does not end the record: another amount that it has taken back, or one
   * in suspense that it rejects; left out if it is not possible.
   */
  undone?: string;
  /** Effect of an operator's `complete` on such a payment. */
  suspenseDebit: string;
  /** True if a record has several attempts, each with a reference of its own: a command may name one. */
  hasAttempts?: true;
};

/** `askedMs`: when the provider was asked, by the clock of the workflow; left out if the result is no answer. */
type ResultSource = {
  providerRequestId: string | null;
  via: 'provider_answer' | 'poll';
  askedMs?: number;
};

/**
 * A result that is a fact: it closes the record or contradicts the ledger. `InstructionFact` explains the kinds; `Own`
 * are kinds that only one capability has.
 */
export type FactResult<Own = never> = ResultSource &
  (
    | {
        kind: 'succeeded';
        amountMinor: number | null;
        sessionId: string | null;
        feeMinor?: number;
        unlessFailed?: true;
      }
    | { kind: 'reversed'; amountMinor: number | null; sessionId: string | null }
    | { kind: 'rejected'; code: string; ifNotSubmitted?: boolean; scope?: 'request' }
    /** `unproven`: an operator states the amount without the provider's word, which a second person must approve. */
    | {
        kind: 'operator_confirmed';
        amountMinor?: number;
        attempt?: number;
        sessionId?: string | null;
        unproven?: true;
      }
    | Own
  );

/** Submissions so far, and those that the provider may have accepted: it has explicitly rejected the others. */
export type SubmissionCounts = {
  submissions: number;
  possibleSubmissions: number;
  firstSubmittedAtMs?: number;
  /** The provider has reported before that it has the instruction. */
  acknowledged?: true;
};

/** Result of a provider call. */
export type ProviderCallResult =
  | FactResult
  /**
   * `idle`: somebody else has to act first, for example a customer, so no answer is overdue. `untilMs`: poll again within
   * this time. `monitored`: the record is closed, and its provider is monitored.
   */
  | { kind: 'pending'; idle?: boolean; untilMs?: number; monitored?: boolean }
  | ({ kind: 'throttled'; retryAfterMs: number; resendSafety?: ResendSafety } & SubmissionCounts)
  /** Explicitly not executed, for a temporary reason: submitted again until the provider accepts it. */
  | ({
      kind: 'rejected_temporarily';
      code: string;
      afterMs?: number;
      resendSafety?: ResendSafety;
    } & SubmissionCounts)
  /** This submission was rejected, and an earlier one may have been executed: verify. */
  | ({ kind: 'refused'; code: string; resendSafety: ResendSafety } & SubmissionCounts)
  /** Surely not submitted: the permit came too late and was returned, or nothing was prepared. */
  | ({ kind: 'unsent'; resendSafety?: ResendSafety } & SubmissionCounts)
  | ({ kind: 'unknown'; reason: UnknownReason | 'activity_failed' } & Partial<SubmissionCounts>)
  /** The provider does not know the reference, which proves absence only as far as its resend safety says. */
  | ({ kind: 'not_found'; resendSafety: ResendSafety } & SubmissionCounts)
  /** Another run has the submit permit: verify. */
  | { kind: 'permit_denied'; attention: string | null }
  /** Nothing was submitted. `afterMs`: nothing may be submitted before this time. */
  | ({ kind: 'not_submitted'; afterMs?: number } & SubmissionCounts)
  /**
   * The provider reports something else than was requested: an operator decides. `amountMinor`: an amount that is in suspense,
   * which an operator may accept.
   */
  | { kind: 'mismatch'; attention: string; amountMinor?: number }
  /** The record has ended. `attention` is the reason why it still needs an operator. */
  | { kind: 'closed'; attention: string | null };

/** Nothing was submitted locally: use the provider's task queue. */
export type NotAttempted = { kind: 'not_attempted' };

/** The record's present status. */
export type StatusReport = { status: InstructionStatus; attention: string | null };

/** The record's status after a fact. It is still open if the fact does not fit the request. */
export type ApplyOutcomeResult = StatusReport & {
  /** True while the provider is polled after a forced failure. */
  monitored: boolean;
  /** Nothing was applied: a second person decides this request. */
  approval?: string;
  /** Nothing was applied: the approval does not permit it. */
  refused?: string;
};

/** An operator's command. Reason and actor go to the timeline. */
export type OperatorCommand = {
  kind: 'retry' | 'verify' | 'complete' | 'fail';
  actor: string;
  reason: string;
  /** The provider's id of the payment, as the operator knows it. The command is refused if the provider reports another. */
  sessionId: string | null;
  /** With `complete`: the amount that the provider has executed, if it is not the requested one. */
  amountMinor?: number;
  /** With `amountMinor`: the attempt that was paid. The provider is asked about it; left out for the present one. */
  attempt?: number;
  /**
   * With `retry`: the operator attests that the provider will never execute what was submitted, which permits one further
   * submission at a provider whose "not found" proves nothing.
   */
  absent?: boolean;
  /** The id of the stored command; left out for messages whose sender has not signed in. */
  command?: string;
  /** With `fail`: release although the provider is silent or undecided, and monitor it. With `complete`: capture. */
  force: boolean;
};

/**
 * A command as activities get it. `id` names the message itself. `command` names the stored command of an operator who has
 * signed in; without it, `actor` is a claim. `evidence` is the provider's last answer in words.
 */
export type OperatorMessage = {
  id: string;
  command?: string;
  kind: OperatorCommand['kind'];
  actor: string;
  reason: string;
  sessionId: string | null;
  amountMinor?: number;
  attempt?: number;
  absent?: boolean;
  force: boolean;
  evidence: string;
};

/** Payload of a command's signal or update. */
export type OperatorPayload = {
  /** The id of the stored command of an operator who has signed in. */
  command?: string;
  actor: string;
  reason: string;
  session_id: string | null;
  amount_minor?: number | null;
  attempt?: number | null;
  absent?: boolean;
  force: boolean;
};

/** Answer to a command: whether it was done, a message for the operator, and the request for an approval that it needs. */
export type OperatorAnswer = { done: boolean; message: string; approval?: string };

/** Input of a submission. */
export type SubmitInput = RecordRef & {
  /** Submissions so far: names the one submit permit that this call may take. */
  submissions: number;
  /** The timeline has already that the provider accepts nothing for now. */
  suppressTimeline?: boolean;
  /** One of many submissions of one activity: they share its workflow task, and their permits share commits. */
  batched?: boolean;
  /** An acknowledgement is not handed to a run that remembers it, so the activity ends when the record has it. */
  untilStored?: true;
};

/** Input of a verification. `nextPollMs` sets the next check. */
export type VerifyInput = RecordRef & {
  nextPollMs: number;
  /** The run knows that the provider has the instruction, also if the record could not be told. */
  acknowledged?: boolean;
  /** Verify even if the record is closed, for an operator's command. */
  evenIfClosed?: boolean;
  /** The attempt that an operator's command names. Its answer says nothing about the present one. */
  attempt?: number;
};

/** Input of applying an outcome. */
export type ApplyOutcomeInput<Own = never> = RecordRef & {
  fact: FactResult<Own>;
  /** The operator whose command made the fact; left out for the provider's own. */
  operator?: OperatorMessage;
  /** The pause of the run before its next poll, if the record is monitored then. Older runs leave it out. */
  nextPollMs?: number | undefined;
};

/** Time after our last request for which an idempotent provider may still execute it. */
const EXECUTED_WITHIN_MS = 60_000;

/**
 * Time between two "not found" of an idempotent provider that prove that nothing was done, where nothing is submitted again. Such a
 * provider states no time itself.
 */
export const idempotentAbsenceMs = ({
  pauseMs = 0,
}: Extract<ResendSafety, { kind: 'idempotent' }>): number => Math.max(pauseMs, EXECUTED_WITHIN_MS);

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
  recordOperatorCommand: (
    note: RecordRef & { actor: string; detail: string; operator?: OperatorMessage },
  ) => Promise<void>;
  raiseAttention: (call: RecordRef & { reason: string }) => Promise<void>;
  recordCancellationRequest: (ref: RecordRef) => Promise<void>;
  /** Uses the approval of an attested absence, or requests one. */
  attestAbsence: (call: RecordRef & { operator: OperatorMessage }) => Promise<AttestationResult>;
};

/** `approval`: a second person must decide this request first. `refused`: why the approval does not permit it. */
export type AttestationResult = Pick<ApplyOutcomeResult, 'approval' | 'refused'>;
