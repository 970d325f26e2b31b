import { commitIssuanceFact } from '../src/capabilities/cards/mutations.js';
import { issuanceFactOf } from '../src/capabilities/cards/transitions.js';
import type { Card } from '../src/capabilities/cards/card.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { FindCardAnswer, IssueAnswer } from '../src/core/providers/card-issuer.js';
import type { InitiateAnswer } from '../src/core/providers/transfer-provider.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import type { CardActivityDeps } from './card-operations.js';
import { instructionActivities, type InstructionHandler } from './instructions.js';
import { toFact } from './provider-result.js';

/** The activities that have a card issued. Names are in histories; what they do is in instructions.ts. */
export function createCardIssuanceActivities(deps: CardActivityDeps) {
  const activities = instructionActivities(issuanceHandler(deps));
  return {
    submitCardIssuance: activities.submit,
    submitCardIssuanceLocally: activities.submitLocally,
    verifyCardIssuance: activities.verify,
    applyCardIssuanceOutcome: activities.applyOutcome,
  };
}

/** How issuers are told of a card, by our id of it, and what they say is settled. */
function issuanceHandler(deps: CardActivityDeps): InstructionHandler<CardOperation> {
  const { cards, cardOperations, groupCommit, providers, localSubmissions, log } = deps;

  async function cardOf({ tenant_id: tenantId, card_id: id }: CardOperation): Promise<Card> {
    const card = await cards.get(tenantId, id);
    if (!card) throw new Error(`there is no ${id}`);
    return card;
  }

  /**
   * Brand and digits have no business in a history: they are booked here, where they are heard, and the workflow
   * learns that it is so. What could not be booked was not heard, and is asked for again.
   */
  async function recordAnswer<Answer extends IssueAnswer | FindCardAnswer>(
    operation: CardOperation,
    via: FactSource['via'],
    answer: Answer,
  ) {
    if (answer.kind !== 'issued') return answer as Exclude<Answer, { kind: 'issued' }>;
    const { providerRequestId, card: sessionId } = answer;
    const fact = issuanceFactOf(answer, { via, actor: null, providerRequestId, note: null });
    failpoint('issuance.answered');
    if (fact) await commitIssuanceFact(groupCommit, operation, fact);
    return { kind: 'succeeded' as const, amountMinor: null, sessionId, providerRequestId };
  }

  return {
    name: 'card operation',
    records: cardOperations,
    log,
    localSubmissions,

    providerCallsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      return {
        provider: issuer.name,
        // Of every issuer: a card is issued once per reference.
        resendSafety: { kind: 'idempotent' },
        async submit(requestedAt, signal): Promise<InitiateAnswer> {
          const {
            _id: reference,
            customer_id: clientReference,
            type,
            name,
          } = await cardOf(operation);
          const request = { reference, clientReference, type, name, requestedAt };
          return recordAnswer(operation, 'provider_answer', await issuer.issue(request, signal));
        },
        verify: async (signal) =>
          recordAnswer(operation, 'poll', await issuer.findCard(operation.card_id, signal)),
      };
    },

    async apply({ tenantId, id }, report, origin) {
      const operation = await cardOperations.get(tenantId, id);
      if (!operation) return null;
      const outcome = await commitIssuanceFact(groupCommit, operation, toFact(report, origin));
      return outcome.kind === 'applied' ? outcome.operation : null;
    },
  };
}
