import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import type { InstructionRecord } from '../src/core/instructions/instruction.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionStore } from '../src/core/instructions/store.js';
import type { FactResult, RecordRef } from '../src/core/instructions/workflow-contract.js';
import type { ProviderFaults } from '../src/core/providers/faults.js';
import type { Fault } from '../src/core/providers/port.js';
import type {
  CancelAnswer,
  PrepareAnswer,
  ResendSafety,
} from '../src/core/providers/transfer-provider.js';
import type { Log } from '../src/shared/log.js';
import { noSuch } from './errors.js';

/** Parts of the process that a handler takes as they are. */
export type SharedParts = {
  log: Log;
  localSubmissions: LocalSubmissionLimiter;
  operatorActs: OperatorActs;
};

/** The same with the faults of providers, for records that these stop. */
export type PartsAndFaults = SharedParts & { providerFaults: ProviderFaults };

/** A capability's part of the activities of its instructions. `Own`: kinds of facts that only it has. */
export type InstructionHandler<R extends InstructionRecord, Own = never> = SharedParts & {
  /** Name of the record in logs and failures. */
  name: string;
  records: InstructionStore<R>;
  /** The capability, which the acts of operators are named after. */
  capability: string;
  /** Left out if faults of a provider are neither reported nor stop the first submissions of these records. */
  faults?: ProviderFaults;
  /** The faults that stop first submissions; left out if all do. */
  stoppedBy?: readonly Fault[];
  /** Faults that may be about one of these records alone, and stop nothing: see `noteFaults`. */
  perhapsOfOne?: readonly Fault[];
  /** True if a provider of these records prepares submissions. */
  prepares?: () => boolean;
  /**
   * True for a record that can never be submitted again without its answer. Its submission uses the provider's task queue, where the
   * answer is awaited for the provider's own limit. Left out if there is none.
   */
  isSubmittedOnce?: (record: R) => boolean;
  /** The code with which an open record fails instead of being submitted; null if it is submitted. Left out if all are. */
  withheldFor?: (record: R) => string | null;
  /** The instruction of these workflows, if a record has several one after another, each with a workflow of its own. */
  instruction?: string;
  /**
   * Returns how this record is submitted to its provider, and verified there. Whatever `submit` needs of our own database is read
   * here, or `submit` throws `NotSubmitted` if it cannot be read: nothing was submitted then.
   */
  providerCallsFor(record: R): ProviderCalls | Promise<ProviderCalls>;
  /** Commits a fact. Returns the record after it, or null if there is no such record. */
  apply(ref: RecordRef, fact: FactResult<Own>, source: FactSource): Promise<R | null>;
};

/** The shared parts alone, out of all that a process has. */
export const sharedParts = ({ log, localSubmissions, operatorActs }: SharedParts): SharedParts => ({
  log,
  localSubmissions,
  operatorActs,
});

/** The shared parts with the faults of providers. */
export const withFaults = (deps: PartsAndFaults) => ({
  ...sharedParts(deps),
  faults: deps.providerFaults,
});

/** The provider of one record and the calls that submit and verify it. */
export type ProviderCalls = {
  provider: string;
  resendSafety: ResendSafety;
  /** Nothing is submitted after this time, even with a permit. */
  notAfter?: Date | null;
  /** Prepares the submission; see transfer-provider.ts. Missing if there is nothing to prepare. */
  prepare?: ((signal: AbortSignal) => Promise<PrepareAnswer>) | undefined;
  /** Cancels what the provider does not know, if that is its resend safety. */
  cancel?: ((signal: AbortSignal) => Promise<CancelAnswer | ProviderOutcome>) | undefined;
  submit(requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome>;
  /** `attempt`: the one that an operator's command names, of a record that has several. */
  verify(signal: AbortSignal, attempt?: number): Promise<ProviderOutcome>;
};

/** True if the record is about a later instruction, which has a workflow of its own: this one ends, and submits nothing. */
export const isSuperseded = (
  { instruction }: { instruction?: string },
  record: InstructionRecord & { instruction?: string },
): boolean => instruction !== undefined && record.instruction !== instruction;

/** Returns the record. If there is none, the activity fails and is not retried. */
export async function load<R extends InstructionRecord, Own>(
  handler: Pick<InstructionHandler<R, Own>, 'name' | 'records'>,
  { tenantId, id }: RecordRef,
  { batched = false } = {},
): Promise<R> {
  const { records } = handler;
  const record = await (batched ? records.getTogether(tenantId, id) : records.get(tenantId, id));
  if (!record) throw noSuch(handler.name);
  return record;
}
