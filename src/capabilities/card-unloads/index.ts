import type { Act } from '../../core/audit/entry.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import type { Card } from '../cards/record.js';
import { cardOperations } from '../cards/card-operation.js';
import { cardCapability, createOperationStarter, type CardParts } from '../cards/index.js';
import { reconciledUnloads } from './comparison.js';
import { applyCardUnloadFact, retryCardUnload } from './mutations.js';
import { unloadEventHandler } from './provider-events.js';
import { cardUnloadContract } from './workflow-contract.js';

function createCardUnloadParts(core: CoreDeps, { cards }: { cards: Pick<CardParts, 'starter'> }) {
  const { groupCommit } = core;
  const starter = createOperationStarter(starterSettings(core), {
    workflow: cardUnloadContract.type,
  });
  cards.starter.register(['unload'], starter);
  // Unloadings are created inside other commits, so no caller starts their workflow: start it here.
  groupCommit.onCreated(cardOperations, (created) => {
    for (const operation of created) {
      if (operation.type === 'unload') starter.startSoon(operation);
    }
  });
  return {
    starter,

    /** Unloads a card again, after the issuer did not give back its whole balance. False: there is nothing to unload. */
    retry: async (
      { _id: card, tenant_id: tenantId }: Card,
      by: { actor: string; reason: string; act?: Act },
    ): Promise<boolean> =>
      (await groupCommit.commit(retryCardUnload, { tenantId, card, ...by })).started,

    idle: starter.idle,
  };
}

/** The capability `card-unloads`: the balance of a closed or expired card returns from the issuer to the wallet. */
export const cardUnloadCapability = defineCapability({
  name: 'card-unloads',
  mutations: forwardable({ applyCardUnloadFact, retryCardUnload }),
  needs: { cards: cardCapability },
  create: createCardUnloadParts,
  reconciled: reconciledUnloads,
  providerEvents: unloadEventHandler,
});
