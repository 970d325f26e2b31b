import { formatMajor } from '../../shared/money.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import { createCardStateStarter } from '../card-states/workflow-starter.js';
import type { CardOperation, CardOperationType } from './card-operation.js';
import { operationWorkflowId, type OperationKey } from './workflow-contract.js';
import type { CardFundingInput } from '../card-fundings/workflow-contract.js';
import type { InstructionInput } from '../../core/instructions/workflow-contract.js';

/** Starts, wakes and commands the workflow of an operation. */
export type OperationStarter = Omit<WorkflowStarter<CardOperation, OperationKey>, 'idle'>;

/** The starters of the workflows of operations on cards. */
export type CardStarters = ReturnType<typeof createCardStarters>;

/** Creates the starter for operations of all types. The type of the operation selects the workflow. */
export function createCardStarters(settings: InstructionStarterSettings) {
  const issuance = createOperationStarter(settings, 'cardIssuance');
  const cardState = createCardStateStarter(settings);
  const funding = createOperationStarter(settings, 'cardFunding', cardFundingInput);
  const byType: Partial<Record<CardOperationType, WorkflowStarter<CardOperation, OperationKey>>> = {
    issue: issuance,
    lock: cardState,
    unlock: cardState,
    close: cardState,
    fund: funding,
    jit_fund: funding,
    auto_reload: funding,
    fund_reversal: funding,
  };

  function starterOf({ type }: Pick<CardOperation, 'type'>): OperationStarter {
    const starter = byType[type];
    if (!starter) throw new Error(`no workflow executes operations of type ${type}`);
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

/** Creates the starter of a workflow whose input is one operation. */
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

/** The workflow input of an operation. */
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

/** The input of a funding's workflow, also for its reversal. The reversal was created at the deadline of the funding. */
function cardFundingInput(settings: InputSettings, operation: CardOperation): CardFundingInput {
  const {
    _id: id,
    reverses_operation_id: reversesOperationId,
    deadline_at: deadlineAt,
    created_at: createdAt,
  } = operation;
  const deadline = reversesOperationId === null ? deadlineAt : createdAt;
  return {
    ...operationInput(settings, operation),
    id: reversesOperationId ?? id,
    deadlineAtMs: deadline?.getTime() ?? null,
  };
}
