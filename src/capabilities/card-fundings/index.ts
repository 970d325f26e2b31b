import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import type { InstructionInput } from '../../core/instructions/workflow-contract.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { cardOperations, type CardOperation } from '../cards/card-operation.js';
import {
  cardCapability,
  createOperationStarter,
  type CardParts,
  cardOperationEvents,
} from '../cards/index.js';
import { cardFundingOperations } from './api.js';
import { reconciledFundings } from './comparison.js';
import { createCardFunding } from './create.js';
import { fundingEventHandler } from './provider-events.js';
import { cardFundingRoutes } from './routes.js';
import { cardAutoReloadEvents } from './webhook-events.js';
import { cardFundingContract, type CardFundingInput } from './workflow-contract.js';
import { acceptCardFunding, applyCardFundingFact, expireCardFunding } from './mutations.js';

/** The parts of card fundings: accepted fundings, and the workflow of fundings, auto-reloads and reversals. */
export type CardFundingParts = ReturnType<typeof createCardFundingParts>;

function createCardFundingParts(core: CoreDeps, { cards }: { cards: Pick<CardParts, 'starter'> }) {
  const { groupCommit } = core;
  const starter = createOperationStarter(starterSettings(core), {
    workflow: cardFundingContract.type,
    input: cardFundingInput,
  });
  cards.starter.register(['fund', 'jit_fund', 'auto_reload', 'fund_reversal'], starter);
  // Auto-reloads are created inside other commits, so no caller starts their workflow: start it here.
  groupCommit.onCreated(cardOperations, (created) => {
    for (const operation of created) {
      if (operation.type === 'auto_reload') starter.startSoon(operation);
    }
  });
  return {
    starter,
    fund: createCardFunding({ groupCommit, starter }),
    idle: starter.idle,
  };
}

/** The input of a funding's workflow, also for its reversal. The reversal was created at the deadline of the funding. */
function cardFundingInput(operation: CardOperation, base: InstructionInput): CardFundingInput {
  const {
    reverses_operation_id: reversesOperationId,
    deadline_at: deadlineAt,
    created_at: createdAt,
  } = operation;
  const deadline = reversesOperationId === null ? deadlineAt : createdAt;
  return {
    ...base,
    id: reversesOperationId ?? base.id,
    deadlineAtMs: deadline?.getTime() ?? null,
  };
}

/** The capability `card-fundings`: fundings and auto-reloads of cards. */
export const cardFundingCapability = defineCapability({
  name: 'card-fundings',
  servedBy: 'cards',
  mutations: forwardable({ acceptCardFunding, applyCardFundingFact, expireCardFunding }),
  needs: { cards: cardCapability },
  operations: cardFundingOperations,
  events: [cardOperationEvents, cardAutoReloadEvents],
  create: createCardFundingParts,
  routes: cardFundingRoutes,
  reconciled: reconciledFundings,
  providerEvents: fundingEventHandler,
});
