import type {
  InstructionActivities,
  RecordRef,
} from '../../src/core/instructions/workflow-contract.js';
import type { Attention } from './attention.js';
import type { MessageQueue } from './operator-messages.js';
import type { WorkflowDetails } from './details.js';
import type { ExecutionRules, Step } from './progress.js';

/** What is pursued: a record, what its capability's activities do for it, and its words. `Own`: facts of its own. */
export type InstructionExecution<Own = never> = ExecutionRules & {
  ref: RecordRef;
  rateLimitKey: string;
  /** Attention is due so long after this as the policy says, however often the run is replaced. */
  acceptedAtMs: number;
  activities: InstructionActivities<Own>;
  /** What this run begins with. */
  firstStep(): Promise<Step<Own>>;
  /** Replaces this run by a new one of the same input. */
  continueAsNew(): Promise<never>;
  /** By then the record ends for who waits for it, whatever it waits for. */
  deadline?: Deadline;
};

export type Deadline = {
  atMs: number;
  /** Ends the record if it is still open; false if its store does not find that it is time. */
  expire(): Promise<boolean>;
};

/** One run of it. */
export type ExecutionState<Own> = InstructionExecution<Own> & {
  attention: Attention;
  messages: MessageQueue;
  details: WorkflowDetails;
  /** The one send that may go out from here has been tried. */
  triedLocally: boolean;
};
