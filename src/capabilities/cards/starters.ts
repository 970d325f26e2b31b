import { formatMajor } from '../../shared/money.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import { createControlStarter } from '../card-states/starter.js';
import {
  operationWorkflowId,
  type CardOperation,
  type CardOperationType,
  type OperationKey,
} from './card-operation.js';
import type { CardFundingInput } from '../card-fundings/workflow-contract.js';
import type { InstructionInput } from '../../core/instructions/workflow-contract.js';

export type OperationStarter = Omit<WorkflowStarter<CardOperation, OperationKey>, 'idle'>;

export type CardStarters = ReturnType<typeof createCardStarters>;

/** Starts and wakes the workflow of any operation: which one it is, its type says. */
export function createCardStarters(settings: InstructionStarterSettings) {
  const issuing = createOperationStarter(settings, 'cardIssuance');
  const control = createControlStarter(settings);
  const funding = createOperationStarter(settings, 'cardFunding', fundingInput);
  const byType: Partial<Record<CardOperationType, WorkflowStarter<CardOperation, OperationKey>>> = {
    issue: issuing,
    lock: control,
    unlock: control,
    close: control,
    fund: funding,
    jit_fund: funding,
    auto_reload: funding,
    fund_reversal: funding,
  };

  function starterOf({ type }: Pick<CardOperation, 'type'>): OperationStarter {
    const starter = byType[type];
    if (!starter) throw new Error(`nothing drives operations of type ${type}`);
    return starter;
  }

  return {
    start: async (operation: CardOperation) => starterOf(operation).start(operation),
    startSoon: (operation: CardOperation) => starterOf(operation).startSoon(operation),
    notifyChangedSoon: (operation: OperationKey) =>
      starterOf(operation).notifyChangedSoon(operation),
    command: async (...[operation, kind, payload]: Parameters<OperationStarter['command']>) =>
      starterOf(operation).command(operation, kind, payload),
    idle: async () =>
      void (await Promise.all(Object.values(byType).map((starter) => starter.idle()))),
  };
}

/** The starter of a workflow that is given one operation. */
function createOperationStarter(
  settings: InstructionStarterSettings,
  workflow: string,
  inputOf: (settings: InputSettings, operation: CardOperation) => InstructionInput = operationInput,
): WorkflowStarter<CardOperation, OperationKey> {
  return createWorkflowStarter<CardOperation, OperationKey>({
    ...settings,
    workflow,
    workflowId: operationWorkflowId,
    toStart(operation) {
      const {
        tenant_id: tenantId,
        provider,
        type,
        card_id: card,
        amount_minor: amountMinor,
      } = operation;
      const amount =
        amountMinor === null ? '' : ` ${operation.currency} ${formatMajor(amountMinor)}`;
      return {
        input: inputOf(settings, operation),
        tenantId,
        provider,
        reference: operation.transaction_reference ?? operation.reference,
        amountMinor,
        summary: `${type} ${card}${amount} via ${provider}`,
      };
    },
  });
}

type InputSettings = Pick<InstructionStarterSettings, 'taskQueue' | 'policy'>;

/** What a workflow is given of an operation. */
const operationInput = (
  { taskQueue, policy }: InputSettings,
  { _id: id, tenant_id: tenantId, provider, created_at: acceptedAt }: CardOperation,
): InstructionInput => ({
  id,
  tenantId,
  rateLimitKey: issuerRateLimitKey(provider),
  taskQueue: providerQueue(taskQueue, issuerRateLimitKey(provider)),
  acceptedAtMs: acceptedAt.getTime(),
  policy,
});

/** That of an unwinding is driven as what it unwinds, whose deadline was when the unwinding began. */
function fundingInput(settings: InputSettings, operation: CardOperation): CardFundingInput {
  const {
    _id: id,
    reverses_operation_id: unwinds,
    deadline_at: deadlineAt,
    created_at: createdAt,
  } = operation;
  const deadline = unwinds === null ? deadlineAt : createdAt;
  return {
    ...operationInput(settings, operation),
    id: unwinds ?? id,
    deadlineAtMs: deadline?.getTime() ?? null,
  };
}
