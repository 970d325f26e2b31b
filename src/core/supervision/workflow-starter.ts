import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common';
import { defineUpdate } from '@temporalio/workflow';
import { failpoint } from '../../shared/failpoints.js';
import type { CompletionWaiters } from '../../shared/completion-waiter.js';
import type { Log } from '../../shared/log.js';
import { REFUSED } from '../../platform/temporal/failure-types.js';
import type {
  OperatorAnswer,
  OperatorCommand,
  OperatorPayload,
  InstructionPolicy,
} from '../instructions/workflow-contract.js';
import { logIdsOf } from './attention-log.js';
import { TEMPORAL_DEADLINE_MS } from '../../platform/temporal/client.js';
import { createKeyedThrottle } from '../../platform/temporal/throttle.js';
import { searchAttributes } from '../../platform/temporal/search-attributes.js';

/** Starts and signals in flight in one process. The dispatcher makes further starts later; a poll replaces a signal. */
export const MAX_IN_FLIGHT = 500;

/** Pause between signals to one entity workflow: a workflow task handles all its signals, and its time is limited. */
const SIGNALS_EVERY_MS = 100;

/** Longest wait for a workflow's end: that of `Prefer: wait`. */
const WATCH_MS = 30_000;

/** Limit of a command: long enough for the provider's answer, short enough if no worker runs. */
const COMMAND_DEADLINE_MS = 60_000;

/** A workflow's input, and the values that operators find it by. */
type WorkflowStart = {
  input: unknown;
  /** Null if it serves several tenants. */
  tenantId: string | null;
  /** Null if the workflow calls no provider. */
  provider: string | null;
  /** Our id of the record; null if it serves several. */
  reference: string | null;
  amountMinor: bigint | null;
  summary: string;
};

/** Settings of every starter. */
export type StarterSettings = {
  client: Client;
  taskQueue: string;
  /** True if a workflow may begin in the worker of this process without a poll. */
  startsEagerly: boolean;
  /** Callers who wait for a record are told when the workflow that this process has started for it has ended. */
  completionWaiters: Pick<CompletionWaiters, 'isWaitingFor' | 'look'>;
  log: Log;
};

/** Settings of a starter of instructions' workflows. */
export type InstructionStarterSettings = StarterSettings & { policy: InstructionPolicy };

/** Settings of the starter of one type of workflow. */
type WorkflowStarterSettings<R extends Key, Key extends Named = Named> = StarterSettings & {
  /** Type of the workflow. */
  workflow: string;
  workflowId: (record: Key) => string;
  /** One workflow serves many records: every start signals it, and starts it if it has ended. */
  entity?: boolean;
  toStart: (record: R) => WorkflowStart;
};

type Named = { _id: string; tenant_id?: string | null };

/** Starts, signals and commands the workflows of one type of record. */
export type WorkflowStarter<R extends Key, Key extends Named = Named> = ReturnType<
  typeof createWorkflowStarter<R, Key>
>;

/**
 * Starts and signals the workflow of a record. Starting one that runs changes nothing. `Key`: the fields of a record that
 * its workflow id is made of.
 */
export function createWorkflowStarter<R extends Key, Key extends Named = Named>(
  settings: WorkflowStarterSettings<R, Key>,
) {
  const { client, log, workflow, workflowId, startsEagerly } = settings;
  const underWay = new Set<Promise<void>>();
  const throttled = createKeyedThrottle(SIGNALS_EVERY_MS);
  const notifyChangedSoon = createSignals<Key>(settings, underWay);

  async function startWatched(record: R): Promise<Started> {
    const options = startOptions(settings, record);
    failpoint('start.before');
    const handle = await client.connection.withDeadline<WorkflowHandle>(
      Date.now() + TEMPORAL_DEADLINE_MS,
      () =>
        settings.entity
          ? client.workflow.signalWithStart(workflow, { ...options, signal: 'recordChanged' })
          : client.workflow.start(workflow, { ...options, requestEagerStart: startsEagerly }),
    );
    failpoint('start.after');
    return { ended: () => endOf(client, handle) };
  }

  /** Callers who wait for the record's end get it when its workflow has ended. */
  async function tellWaiting({ _id: id }: Named, started: Started): Promise<void> {
    if (settings.entity || !settings.completionWaiters.isWaitingFor(id)) return;
    await started.ended();
    settings.completionWaiters.look([id]);
  }

  return {
    /** The id of the workflow of a record. */
    workflowId,

    start: async (record: R): Promise<void> => void (await startWatched(record)),

    /** Starts it, and lets the caller wait for its end. */
    startWatched,

    /** Starts in the background. If the start fails or there are too many, the dispatcher starts it later. */
    startSoon(record: R): void {
      if (underWay.size >= MAX_IN_FLIGHT) return;
      const tryOnce = () =>
        startWatched(record).then(
          (started) => void tellWaiting(record, started),
          (error: unknown) => {
            const which = logIdsOf(record, workflowId(record));
            log.warn({ err: error, ...which }, 'workflow start failed, dispatcher will retry');
          },
        );
      const started = settings.entity ? throttled(workflowId(record), tryOnce) : tryOnce();
      const attempt = started.finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    },

    /** Sends an operator's command as an update, starts the workflow if none runs, and returns the answer. */
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

    notifyChangedSoon,

    /** Resolves when no start or signal is in flight. */
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** A workflow that has been started, or that was running already. */
export type Started = {
  /** Resolves when the workflow has ended, and after 30 s at most. Never rejects; it says nothing about the record. */
  ended(): Promise<void>;
};

/** One long poll of Temporal's server, which answers when the workflow ends. */
const endOf = (client: Client, handle: Pick<WorkflowHandle, 'result'>): Promise<void> =>
  client.connection
    .withDeadline<unknown>(Date.now() + WATCH_MS, () => handle.result())
    .then(
      () => undefined,
      () => undefined,
    );

/** Creates the signals to running workflows, which count as in flight in `underWay`. */
function createSignals<Key extends Named>(
  {
    client,
    log,
    workflowId,
  }: Pick<WorkflowStarterSettings<Key>, 'client' | 'log'> & {
    workflowId: (record: Key) => string;
  },
  underWay: Set<Promise<void>>,
): (record: Key) => void {
  /** The workflows with a signal in flight, and whether their records have changed again since. */
  const signalling = new Map<string, 'once' | 'again'>();

  const signal = (record: Key, id: string): Promise<void> =>
    client.connection
      .withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
        client.workflow.getHandle(id).signal('recordChanged'),
      )
      .catch((error: unknown) => {
        if (error instanceof WorkflowNotFoundError) return;
        const which = logIdsOf(record, id);
        log.warn(
          { err: error, ...which },
          'workflow not signalled, its next poll will read the record',
        );
      });

  /**
   * Signals in the background that the record may have changed. A workflow that has ended needs no signal. One signal per
   * workflow is in flight; a change meanwhile is signalled after it. Above the limit a signal is left out.
   */
  function notifyChangedSoon(record: Key): void {
    const id = workflowId(record);
    if (signalling.has(id)) return void signalling.set(id, 'again');
    if (underWay.size >= MAX_IN_FLIGHT) return;
    signalling.set(id, 'once');
    const attempt = signal(record, id).finally(() => {
      underWay.delete(attempt);
      const wanted = signalling.get(id);
      signalling.delete(id);
      if (wanted === 'again') notifyChangedSoon(record);
    });
    underWay.add(attempt);
  }

  return notifyChangedSoon;
}

/** The answer of a refused command. Throws every other error. */
function refusalIn(error: unknown): OperatorAnswer {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : null;
  if (cause instanceof ApplicationFailure && cause.type === REFUSED) {
    const [approval] = cause.details ?? [];
    const needs = typeof approval === 'string' ? { approval } : {};
    return { done: false, message: cause.message, ...needs };
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
