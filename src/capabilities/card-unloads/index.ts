import type { Act } from '../../core/audit/entry.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import type { Card } from '../cards/record.js';
import { cardOperations, type Funding } from '../cards/card-operation.js';
import { cardCapability, createOperationStarter, type CardParts } from '../cards/index.js';
import { askAboutDoubted } from './provider-calls.js';
import { reconciledUnloads } from './comparison.js';
import { applyCardUnloadFact, retryCardUnload } from './mutations.js';
import { unloadEventHandler } from './provider-events.js';
import { CONTRADICTED } from './transitions.js';
import { cardUnloadContract } from './workflow-contract.js';

const NOTHING_FAILED = 'No unloading of this card has failed.';

function createCardUnloadParts(
  core: CoreDeps,
  { cards }: { cards: Pick<CardParts, 'starter' | 'operations'> },
) {
  const { groupCommit, providers } = core;
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

    /**
     * Unloads a card again, after the issuer did not give back its whole balance, or has taken some of it back. The issuer is
     * asked about that first, and its answer is booked. Returns why nothing was done, or null.
     */
    async retry(
      card: Card,
      by: { actor: string; reason: string; act?: Act },
    ): Promise<string | null> {
      const { _id: id, tenant_id: tenantId } = card;
      const doubted = await cards.operations.unloadInDoubt(card, CONTRADICTED);
      const said = doubted && (await askAboutDoubted(providers, doubted as Funding, by));
      if (said?.kind === 'undecided') return said.reason;
      const asked = said && { id: doubted._id, version: doubted.version, fact: said.fact };
      const input = { tenantId, card: id, ...by, ...(asked && { asked }) };
      if ((await groupCommit.commit(retryCardUnload, input)).done) return null;
      return said ? 'It changed in this moment: show it again.' : NOTHING_FAILED;
    },

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
