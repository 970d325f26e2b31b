import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common';
import { defineUpdate } from '@temporalio/workflow';
import { failpoint } from '../failpoints.js';
import type { Log } from '../log.js';
import { REFUSED } from '../pursuits/operator.js';
import type {
  OperatorAnswer,
  OperatorCommand,
  OperatorPayload,
  PursuitPolicy,
} from '../pursuits/reports.js';
import { TEMPORAL_DEADLINE_MS } from './client.js';
import { createPaced } from './paced.js';
import { searchAttributes } from './search-attributes.js';

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
  tenant: string | null;
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
export type PursuitStarterSettings = StarterSettings & { policy: PursuitPolicy };

export type RecordStarterSettings<R extends Key, Key extends Named = Named> = StarterSettings & {
  /** The type of the workflow, and how the log calls its records. */
  workflow: string;
  workflowId: (record: Key) => string;
  /** One workflow for many records: it is woken for each of them, and started if it has ended. */
  entity?: boolean;
  toStart: (record: R) => WorkflowStart;
};

type Named = { _id: string };

export type RecordStarter<R extends Key, Key extends Named = Named> = ReturnType<
  typeof createRecordStarter<R, Key>
>;

/**
 * Starts and wakes the workflow of a record, always in the same way: one that runs is left as it is. The record
 * decides, not we. `Key`: what of a record says which workflow is its own.
 */
export function createRecordStarter<R extends Key, Key extends Named = Named>(
  settings: RecordStarterSettings<R, Key>,
) {
  const { client, log, workflow, workflowId } = settings;
  const underWay = new Set<Promise<void>>();
  const paced = createPaced(SIGNALS_EVERY_MS);

  async function start(record: R): Promise<void> {
    const options = startOptions(settings, record);
    failpoint('start.before');
    await client.connection.withDeadline<unknown>(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      settings.entity
        ? client.workflow.signalWithStart(workflow, { ...options, signal: 'wake' })
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
          log.warn({ err: error, ...which }, 'workflow not started, left to the dispatcher');
        });
      const started = settings.entity ? paced(workflowId(record), tryOnce) : tryOnce();
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
    wakeSoon(record: Key): void {
      const attempt = client.connection
        .withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
          client.workflow.getHandle(workflowId(record)).signal('wake'),
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
  { taskQueue, workflowId, toStart }: RecordStarterSettings<R, Key>,
  record: R,
) {
  const { input, tenant, provider, reference, amountMinor, summary } = toStart(record);
  const typedSearchAttributes: SearchAttributePair[] = [
    { key: searchAttributes.attention, value: false },
  ];
  if (tenant !== null) typedSearchAttributes.push({ key: searchAttributes.tenant, value: tenant });
  if (reference !== null) {
    typedSearchAttributes.push({ key: searchAttributes.reference, value: reference });
  }
  if (provider !== null) {
    typedSearchAttributes.push({ key: searchAttributes.provider, value: provider });
  }
  if (amountMinor !== null) {
    typedSearchAttributes.push({ key: searchAttributes.amount, value: Number(amountMinor) });
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
