import type { Absence, UnknownReason } from '../providers/provider.js';
import type { PursuedStatus } from './record.js';

/**
 * What crosses Temporal for every record that is pursued: kinds, codes and references. No account number, name or
 * provider's text may be added here, for it would stay in workflow histories. Amounts are integers in kobo.
 */
export type RecordRef = { tenant: string; id: string };

/** Set at the start, so that a replay never reads configuration. */
export type PursuitPolicy = {
  attentionAfterMs: number;
  pollMaxMs: number;
};

type ReportOrigin = { providerRequestId: string | null; via: 'provider_answer' | 'poll' };

/**
 * A fact as a report: something that ends the record or stands against what is booked. `Own` are kinds that only one
 * capability has. See PursuitFact for the names.
 */
export type FactReport<Own = never> = ReportOrigin &
  (
    | { kind: 'paid'; amountMinor: number | null; sessionId: string | null }
    | { kind: 'reversed'; amountMinor: number | null; sessionId: string | null }
    | { kind: 'refused'; code: string; ifUnsent?: boolean }
    | { kind: 'confirmed' }
    | Own
  );

/** How often the order was let out, and how often it may have been taken: the rest was explicitly not. */
export type Sends = { sends: number; tries: number };

/** What a provider call came to. `sends` is how often the order has been let out so far. */
export type CallReport =
  | FactReport
  /**
   * `idle`: it is somebody else's turn, and nobody is late. `untilMs`: to be asked again within that. `watched`: the
   * record has been given up, and nobody waits for it.
   */
  | { kind: 'pending'; idle?: boolean; untilMs?: number; watched?: boolean }
  | ({ kind: 'throttled'; retryAfterMs: number } & Sends)
  /** Explicitly not done, for a reason that passes: sent again until the provider agrees. */
  | ({ kind: 'refused_for_now'; code: string } & Sends)
  | ({ kind: 'unknown'; reason: UnknownReason | 'activity_failed' } & Partial<Sends>)
  /** Asked and not found: proves absence only as far as the provider's capability says, as its adapter declares it. */
  | ({ kind: 'not_found'; absence: Absence } & Sends)
  /** Somebody else has the permission to send: ask the provider. */
  | { kind: 'not_permitted'; attention: string | null }
  /** The order was never let out; `afterMs`: and must not be before that. */
  | ({ kind: 'unsent'; afterMs?: number } & Sends)
  /** Something else is proven than was ordered: nothing is booked, and an operator decides. */
  | { kind: 'disputed'; attention: string }
  /** The record has come to its end, by this or another way; `attention` says what an operator still has to see. */
  | { kind: 'closed'; attention: string | null };

/** Nothing was sent from where the workflow runs: the provider's queue is the way. */
export type NotTried = { kind: 'not_tried' };

/** How the record stands, for an operator's command. */
export type Standing = { status: PursuedStatus; attention: string | null };

/** How the record stands after a fact; still open where the fact did not fit what was ordered. */
export type SettleReport = Standing & {
  /** The provider is asked on, for a payment that may show up although the record was given up. */
  watched: boolean;
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

export type SendOrder = RecordRef & {
  /** How often the order has left us so far: names the one permission that this call may take. */
  sends: number;
  /** The timeline has it already that the provider does not take orders now. */
  quietly?: boolean;
};

export type Question = RecordRef & {
  nextPollMs: number;
  /** Ask although the record is closed: an operator wants to know what the provider says. */
  anyway?: boolean;
};

export type Settlement<Own = never> = RecordRef & {
  fact: FactReport<Own>;
  /** Who brought the fact about, where it was not the provider alone. */
  operator?: { actor: string; reason: string };
};

/** What a capability's activities have to do for the workflow that pursues its records; they have names of their own. */
export type PursuitActivities<Own = never> = {
  /** Takes the permission to send that `sends` names and uses it, at once and at most once. */
  send: (order: SendOrder) => Promise<CallReport>;
  /** The same for the first send, where the workflow runs, if that is open to it now; see first-try.ts. */
  sendHere?: (order: SendOrder & { provider: string }) => Promise<CallReport | NotTried>;
  /** Asks the provider what became of the order, by our reference. Sends nothing. */
  verify: (question: Question) => Promise<CallReport>;
  /** Books what the provider said, through the state guard. Repeatable without limit. */
  settle: (settlement: Settlement<Own>) => Promise<SettleReport>;
  readStanding: (ref: RecordRef) => Promise<Standing>;
  /** What an operator did, with the outcome, on the timeline. */
  noteOperator: (note: RecordRef & { actor: string; detail: string }) => Promise<void>;
  raiseAttention: (call: RecordRef & { reason: string }) => Promise<void>;
  noteCancellation: (ref: RecordRef) => Promise<void>;
};
