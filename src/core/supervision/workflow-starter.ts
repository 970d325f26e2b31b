import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common';
import { defineUpdate } from '@temporalio/workflow';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import { REFUSED } from '../instructions/operator-commands.js';
import type {
  OperatorAnswer,
  OperatorCommand,
  OperatorPayload,
  InstructionPolicy,
} from '../instructions/workflow-contract.js';
import { TEMPORAL_DEADLINE_MS } from '../../platform/temporal/client.js';
import { createKeyedThrottle } from '../../platform/temporal/throttle.js';
import { searchAttributes } from '../../platform/temporal/search-attributes.js';

/** Starts that wait for Temporal at once in one process; what is beyond is left to the dispatcher. */
export const MAX_STARTING = 500;

/** An entity takes all its signals in one turn, which has its time: a burst reaches it as a few of them. */
const SIGNALS_EVERY_MS = 100;

/** An operator waits for the provider's answer, but not for a worker that is not there. */
const COMMAND_DEADLINE_MS = 60_000;

/** What a workflow is given, and what operators find it by. */
export type WorkflowStart = {
  input: unknown;
  /** Null where it is for several. */
  tenantId: string | null;
  /** Null where the workflow calls none. */
  provider: string | null;
  /** Null where the record has none, or no one amount. */
  reference: string | null;
  amountMinor: bigint | null;
  summary: string;
};

export type StarterSettings = {
  client: Client;
  taskQueue: string;
  log: Log;
};

/** For the workflows of what is pursued: how patiently, too. */
export type InstructionStarterSettings = StarterSettings & { policy: InstructionPolicy };

export type WorkflowStarterSettings<R extends Key, Key extends Named = Named> = StarterSettings & {
  /** The type of the workflow, and how the log calls its records. */
  workflow: string;
  workflowId: (record: Key) => string;
  /** One workflow for many records: it is woken for each of them, and started if it has ended. */
  entity?: boolean;
  toStart: (record: R) => WorkflowStart;
};

type Named = { _id: string };

export type WorkflowStarter<R extends Key, Key extends Named = Named> = ReturnType<
  typeof createWorkflowStarter<R, Key>
>;

/**
 * Starts and wakes the workflow of a record, always in the same way: one that runs is left as it is. The record
 * decides, not we. `Key`: what of a record says which workflow is its own.
 */
export function createWorkflowStarter<R extends Key, Key extends Named = Named>(
  settings: WorkflowStarterSettings<R, Key>,
) {
  const { client, log, workflow, workflowId } = settings;
  const underWay = new Set<Promise<void>>();
  const throttled = createKeyedThrottle(SIGNALS_EVERY_MS);

  async function start(record: R): Promise<void> {
    const options = startOptions(settings, record);
    failpoint('start.before');
    await client.connection.withDeadline<unknown>(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      settings.entity
        ? client.workflow.signalWithStart(workflow, { ...options, signal: 'recordChanged' })
        : client.workflow.start(workflow, options),
    );
    failpoint('start.after');
  }

  return {
    start,

    /** Starts without being waited for. A start that fails or is not even tried is made up for by the dispatcher. */
    startSoon(record: R): void {
      if (underWay.size >= MAX_STARTING) return;
      const tryOnce = () =>
        start(record).catch((error: unknown) => {
          const which = { [workflow]: record._id };
          log.warn({ err: error, ...which }, 'workflow start failed, dispatcher will retry');
        });
      const started = settings.entity ? throttled(workflowId(record), tryOnce) : tryOnce();
      const attempt = started.finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    },

    /** Has an operator's command done, by a run that is started if there is none, and answers what came of it. */
    async command(
      record: R,
      kind: OperatorCommand['kind'],
      payload: OperatorPayload,
    ): Promise<OperatorAnswer> {
      const startWorkflowOperation = new WithStartWorkflowOperation(
        workflow,
        startOptions(settings, record),
      );
      try {
        return await client.connection.withDeadline(Date.now() + COMMAND_DEADLINE_MS, () =>
          client.workflow.executeUpdateWithStart(operatorUpdate(kind), {
            args: [payload],
            startWorkflowOperation,
          }),
        );
      } catch (error) {
        return refusalIn(error);
      }
    },

    /** Says that the record may have changed. A workflow that is not there has nothing left to look at. */
    notifyChangedSoon(record: Key): void {
      const attempt = client.connection
        .withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
          client.workflow.getHandle(workflowId(record)).signal('recordChanged'),
        )
        .catch((error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return;
          const which = { [workflow]: record._id };
          log.warn({ err: error, ...which }, 'workflow not woken, its next poll will see it');
        })
        .finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    },

    idle: async () => void (await Promise.all(underWay)),
  };
}

/** The answer of a command that was refused; throws on what else went wrong. */
function refusalIn(error: unknown): OperatorAnswer {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : null;
  if (cause instanceof ApplicationFailure && cause.type === REFUSED) {
    return { done: false, message: cause.message };
  }
  throw error;
}

const operatorUpdate = (kind: OperatorCommand['kind']) =>
  defineUpdate<OperatorAnswer, [OperatorPayload]>(kind);

function startOptions<R extends Key, Key extends Named>(
  { taskQueue, workflowId, toStart }: WorkflowStarterSettings<R, Key>,
  record: R,
) {
  const { input, tenantId, provider, reference, amountMinor, summary } = toStart(record);
  const typedSearchAttributes: SearchAttributePair[] = [
    { key: searchAttributes.needsAttention, value: false },
  ];
  if (tenantId !== null)
    typedSearchAttributes.push({ key: searchAttributes.tenantId, value: tenantId });
  if (reference !== null) {
    typedSearchAttributes.push({ key: searchAttributes.reference, value: reference });
  }
  if (provider !== null) {
    typedSearchAttributes.push({ key: searchAttributes.provider, value: provider });
  }
  if (amountMinor !== null) {
    typedSearchAttributes.push({ key: searchAttributes.amountMinor, value: Number(amountMinor) });
  }
  return {
    workflowId: workflowId(record),
    taskQueue,
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes,
    staticSummary: summary,
  } as const;
}
