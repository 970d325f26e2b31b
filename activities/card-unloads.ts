import { commitUnloadFact } from '../src/capabilities/card-unloads/mutations.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import { aboutOf } from '../src/core/instructions/instruction.js';
import { asPaymentAnswer } from '../src/core/providers/card-issuer.js';
import type { CardActivityDeps } from './cards.js';
import { sharedParts, type InstructionHandler } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { toFact } from './provider-result.js';

/** The activities that unload cards. Their names are in histories, so they never change. */
export function createCardUnloadActivities(deps: CardActivityDeps) {
  const activities = providerActivities(unloadHandler(deps));
  return {
    submitCardUnload: activities.submit,
    submitCardUnloadLocally: activities.submitLocally,
    verifyCardUnload: activities.verify,
    applyCardUnloadOutcome: activities.applyOutcome,
  };
}

const unloadHandler = ({
  cards: { store: cards, operations },
  groupCommit,
  providers,
  ...deps
}: CardActivityDeps): InstructionHandler<CardOperation> => ({
  name: 'card operation',
  records: operations,
  ...sharedParts(deps),
  capability: 'cards',

  async providerCallsFor(operation) {
    const {
      _id: reference,
      tenant_id: tenantId,
      card_id: id,
      amount_minor: amountMinor,
    } = operation;
    const issuer = providers.issuer(operation.provider);
    const card = await cards.get(tenantId, id);
    return {
      provider: issuer.name,
      resendSafety: issuer.cards.resendSafety,
      async submit(requestedAt, signal) {
        if (!card?.issued || amountMinor === null || !issuer.unload) {
          throw new Error(`${id} can not be unloaded`);
        }
        const request = {
          reference,
          clientReference: operation.transaction_reference ?? reference,
          card: card.issued.issuer_card_id,
          amountMinor,
          currency: operation.currency,
          requestedAt,
        };
        return asPaymentAnswer(await issuer.unload(request, signal));
      },
      async verify(signal) {
        if (!issuer.findUnload) throw new Error(`${issuer.name} has no unloadings`);
        return asPaymentAnswer(await issuer.findUnload(aboutOf(operation), signal));
      },
    };
  },

  async apply({ tenantId, id }, report, origin) {
    const operation = await operations.get(tenantId, id);
    if (!operation) return null;
    return (await commitUnloadFact(groupCommit, operation, toFact(report, origin))).operation;
  },
});
