import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { InstructionType } from '../../activities/instruction-stores.js';
import type {
  InstructionActivities,
  InstructionContract,
  InstructionInput,
  ProviderActivities,
  RecordRef,
  SubmitInput,
  VerifyInput,
} from '../../src/core/instructions/workflow-contract.js';
import { localActivities } from '../local-activities.js';
import {
  localProviderCall,
  ofCommand,
  ofFirstSubmission,
  ownReads,
  ownStore,
  providerCall,
} from '../policies.js';
import type { Attention } from './attention.js';
import type { WorkflowDetails } from './details.js';
import type { MessageQueue } from './operator-messages.js';
import type { ExecutionRules, Step } from './progress.js';

/** All that executing one instruction needs; `buildExecution` makes it. `Own`: kinds of facts that only this type has. */
export type InstructionExecution<Own = never> = ExecutionRules & {
  ref: RecordRef;
  rateLimitKey: string;
  /** Attention is due `policy.attentionAfterMs` after this, however often the run is replaced. */
  acceptedAtMs: number;
  activities: InstructionActivities<Own>;
  /** Returns the run's first step. `queued` makes a call of the provider's queue; null if a command has ended the wait. */
  firstStep(queued: QueuedCall): Promise<Step<Own>>;
  /** Replaces this run by a new one with the same input. */
  continueAsNew(): Promise<never>;
  /** Closes the record at a fixed time, whatever the run waits for then. */
  deadline?: Deadline;
};

/** Makes a call of the provider's queue. Null if a command came before the call had begun: it was surely not made. */
export type QueuedCall = <Result>(call: () => Promise<Result>) => Promise<Result | null>;

/** A time at which the record is closed. */
export type Deadline = {
  atMs: number;
  /** Closes the record if it is open. Returns false if the store's clock has not reached the deadline yet. */
  expire(): Promise<boolean>;
};

/** The state of one run. */
export type ExecutionState<Own> = InstructionExecution<Own> & {
  attention: Attention;
  messages: MessageQueue;
  details: WorkflowDetails;
  /** True once the run's only local submission was tried. */
  triedLocally: boolean;
  /** Series of attempts in a row in which the store has refused an outcome. */
  blockedCommits: number;
};

const store = localActivities(ownStore);
const reads = localActivities(ownReads);
const local = localActivities(localProviderCall);

/**
 * The execution of one instruction, made from its contract and its workflow's input: it submits at once, and a long run
 * continues as a new one with the same input. `Own`: kinds of facts that only this type has.
 */
export function buildExecution<Own = never>(
  { type, labels }: InstructionContract<InstructionType>,
  input: InstructionInput,
): InstructionExecution<Own> {
  const { tenantId, id, taskQueue, rateLimitKey, acceptedAtMs, policy } = input;
  return {
    ref: { tenantId, id },
    rateLimitKey,
    acceptedAtMs,
    policy,
    labels,
    activities: { ...providerActivities<Own>(type, taskQueue), ...recordActivities(type) },
    firstStep: async () => ({ do: 'submit', afterMs: 0 }),
    continueAsNew: () => continueAsNew(input),
  };
}

/** Activities that only this type has. All types name them alike: `submitRefund`, `verifyRefund`, … */
function providerActivities<Own>(
  type: InstructionType,
  taskQueue: string,
): Required<ProviderActivities<Own>> {
  const options = { ...providerCall, taskQueue };
  const polls = proxyActivities<Activities>(options);
  const firsts = proxyActivities<Activities>({ ...options, ...ofFirstSubmission });
  const commands = proxyActivities<Activities>({ ...options, ...ofCommand });
  const Type = capitalize(type);
  const activities = {
    submit: (input: SubmitInput) =>
      (input.submissions === 0 ? firsts : polls)[`submit${Type}`](input),
    submitLocally: local[`submit${Type}Locally`],
    verify: (input: VerifyInput) =>
      (input.evenIfClosed === true ? commands : polls)[`verify${Type}`](input),
    applyOutcome: store[`apply${Type}Outcome`],
  };
  // The compiler cannot tell which types have facts of their own; activities/ is checked against ProviderActivities.
  return activities as unknown as Required<ProviderActivities<Own>>;
}

const capitalize = <Name extends string>(name: Name) =>
  `${name.charAt(0).toUpperCase()}${name.slice(1)}` as Capitalize<Name>;

const withoutNote = () => undefined;

/** Activities that all types share; they are given the type with the id. */
function recordActivities(
  type: InstructionType,
): Omit<InstructionActivities, keyof ProviderActivities> {
  return {
    readInstructionStatus: (ref: RecordRef) => reads.readInstructionStatus({ type, ...ref }),
    raiseAttention: (call) => store.raiseAttention({ type, ...call }),
    attestAbsence: (call) => store.attestAbsence({ type, ...call }),
    // A store that refuses a note must not stop the run: the history has the command and the cancellation too.
    recordOperatorCommand: (note) =>
      store.recordOperatorCommand({ type, ...note }).catch(withoutNote),
    recordCancellationRequest: (ref) =>
      store.recordCancellationRequest({ type, ...ref }).catch(withoutNote),
  };
}
