import { formatMajor } from '../money.js';
import { issuerCalls, providerQueue } from '../temporal/queues.js';
import {
  createRecordStarter,
  type PursuitStarterSettings,
  type RecordStarter,
} from '../temporal/record-starter.js';
import { createControlStarter } from './control/starter.js';
import {
  operationWorkflowId,
  type CardOperation,
  type CardOperationType,
  type OperationKey,
} from './operation.js';
import type { FundingInput } from './funding/reports.js';
import type { OperationInput } from './reports.js';

export type OperationStarter = Omit<RecordStarter<CardOperation, OperationKey>, 'idle'>;

export type CardStarters = ReturnType<typeof createCardStarters>;

/** Starts and wakes the workflow of any operation: which one it is, its type says. */
export function createCardStarters(settings: PursuitStarterSettings) {
  const issuing = createOperationStarter(settings, 'cardIssuing');
  const control = createControlStarter(settings);
  const funding = createOperationStarter(settings, 'cardFunding', fundingInput);
  const byType: Partial<Record<CardOperationType, RecordStarter<CardOperation, OperationKey>>> = {
    issue: issuing,
    lock: control,
    unlock: control,
    close: control,
    fund: funding,
    jit_fund: funding,
    auto_reload: funding,
    unwind: funding,
  };

  function starterOf({ type }: Pick<CardOperation, 'type'>): OperationStarter {
    const starter = byType[type];
    if (!starter) throw new Error(`nothing drives operations of type ${type}`);
    return starter;
  }

  return {
    start: async (operation: CardOperation) => starterOf(operation).start(operation),
    startSoon: (operation: CardOperation) => starterOf(operation).startSoon(operation),
    wakeSoon: (operation: OperationKey) => starterOf(operation).wakeSoon(operation),
    command: async (...[operation, kind, payload]: Parameters<OperationStarter['command']>) =>
      starterOf(operation).command(operation, kind, payload),
    idle: async () =>
      void (await Promise.all(Object.values(byType).map((starter) => starter.idle()))),
  };
}

/** The starter of a workflow that is given one operation. */
function createOperationStarter(
  settings: PursuitStarterSettings,
  workflow: string,
  inputOf: (settings: InputSettings, operation: CardOperation) => OperationInput = operationInput,
): RecordStarter<CardOperation, OperationKey> {
  return createRecordStarter<CardOperation, OperationKey>({
    ...settings,
    workflow,
    workflowId: operationWorkflowId,
    toStart(operation) {
      const { tenant, provider, type, card, amount_minor: amountMinor } = operation;
      const amount =
        amountMinor === null ? '' : ` ${operation.currency} ${formatMajor(amountMinor)}`;
      return {
        input: inputOf(settings, operation),
        tenant,
        provider,
        reference: operation.transaction_reference ?? operation.reference,
        amountMinor,
        summary: `${type} ${card}${amount} by ${provider}`,
      };
    },
  });
}

type InputSettings = Pick<PursuitStarterSettings, 'taskQueue' | 'policy'>;

/** What a workflow is given of an operation. */
const operationInput = (
  { taskQueue, policy }: InputSettings,
  { _id: id, tenant, provider, created_at: acceptedAt }: CardOperation,
): OperationInput => ({
  id,
  tenant,
  calls: issuerCalls(provider),
  queue: providerQueue(taskQueue, issuerCalls(provider)),
  acceptedAtMs: acceptedAt.getTime(),
  policy,
});

/** That of an unwinding is driven as what it unwinds, whose deadline was when the unwinding began. */
function fundingInput(settings: InputSettings, operation: CardOperation): FundingInput {
  const { _id: id, unwinds, deadline_at: deadlineAt, created_at: createdAt } = operation;
  const deadline = unwinds === null ? deadlineAt : createdAt;
  return {
    ...operationInput(settings, operation),
    id: unwinds ?? id,
    deadlineAtMs: deadline?.getTime() ?? null,
  };
}
