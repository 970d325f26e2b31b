import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { defineUpdate } from '@temporalio/workflow';
import type { Log } from '../log.js';
import { TEMPORAL_DEADLINE_MS } from '../temporal/client.js';
import type { OperatorAnswer, OperatorCommand, TransferInput, TransferPolicy } from './reports.js';
import { REFUSED } from './operator.js';
import { searchAttributes } from './search-attributes.js';
import { transferWorkflowId, type Transfer } from './transfer.js';

/** Starts that wait for Temporal at once in one process; what is beyond is left to the dispatcher. */
const MAX_STARTING = 500;

type OperatorPayload = {
  actor: string;
  reason: string;
  session_id: string | null;
  force: boolean;
};

type StartSettings = {
  client: Client;
  taskQueue: string;
  policy: TransferPolicy;
  log: Log;
};

export type TransferStarter = ReturnType<typeof createTransferStarter>;

/** An operator waits for the bank's answer, but not for a worker that is not there. */
const COMMAND_DEADLINE_MS = 60_000;

/** Starts and wakes the workflow of a transfer. Starting one that runs does nothing: the record decides, not we. */
export function createTransferStarter(settings: StartSettings) {
  const { client, log } = settings;
  const starting = new Set<Promise<void>>();

  async function start(transfer: Transfer): Promise<void> {
    await client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.start('transfer', startOptions(settings, transfer)),
    );
  }

  return {
    start,

    /** Starts without being waited for. A start that fails or is not even tried is made up for by the dispatcher. */
    startSoon(transfer: Transfer): void {
      if (starting.size >= MAX_STARTING) return;
      const attempt = start(transfer)
        .catch((error: unknown) => {
          log.warn(
            { err: error, transfer: transfer._id },
            'workflow not started, left to the dispatcher',
          );
        })
        .finally(() => starting.delete(attempt));
      starting.add(attempt);
    },

    /** Has an operator's command done, by a run that is started if there is none, and answers what came of it. */
    async command(
      transfer: Transfer,
      kind: OperatorCommand['kind'],
      payload: OperatorPayload,
    ): Promise<OperatorAnswer> {
      const startWorkflowOperation = new WithStartWorkflowOperation(
        'transfer',
        startOptions(settings, transfer),
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
    wakeSoon(id: string): void {
      const attempt = client.connection
        .withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
          client.workflow.getHandle(transferWorkflowId(id)).signal('wake'),
        )
        .catch((error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return;
          log.warn({ err: error, transfer: id }, 'workflow not woken, its next poll will see it');
        })
        .finally(() => starting.delete(attempt));
      starting.add(attempt);
    },

    idle: async () => void (await Promise.all(starting)),
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

const attributesOf = (transfer: Transfer) => [
  { key: searchAttributes.tenant, value: transfer.tenant },
  { key: searchAttributes.provider, value: transfer.provider },
  { key: searchAttributes.reference, value: transfer.reference },
  { key: searchAttributes.amount, value: Number(transfer.amount_minor) },
  { key: searchAttributes.attention, value: false },
];

/** How the workflow of a transfer is started, always the same: one that runs is left as it is. */
function startOptions({ taskQueue, policy }: StartSettings, transfer: Transfer) {
  const { provider } = transfer;
  const input: TransferInput = {
    id: transfer._id,
    tenant: transfer.tenant,
    provider,
    providerQueue: providerQueue(taskQueue, provider),
    acceptedAtMs: transfer.created_at.getTime(),
    recipientKnown: transfer.recipient.name !== null,
    policy,
  };
  return {
    workflowId: transferWorkflowId(transfer._id),
    taskQueue,
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: attributesOf(transfer),
    staticSummary: `${transfer.currency} ${formatMajor(transfer.amount_minor)} by ${provider}`,
  } as const;
}

const operatorUpdate = (kind: OperatorCommand['kind']) =>
  defineUpdate<OperatorAnswer, [OperatorPayload]>(kind);

/** Each provider has its own queue and rate limit, so that a slow one holds back no other. */
export const providerQueue = (taskQueue: string, provider: string) => `${taskQueue}-${provider}`;

/** Parts of batches have a queue of their own, so that a thousand transfers at once hold back no single one. */
export const bulkQueue = (taskQueue: string, provider: string) =>
  `${providerQueue(taskQueue, provider)}-bulk`;

function formatMajor(amountMinor: bigint): string {
  const cents = (amountMinor % 100n).toString().padStart(2, '0');
  return `${(amountMinor / 100n).toLocaleString('en')}.${cents}`;
}
