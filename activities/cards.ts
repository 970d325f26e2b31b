import { commitIssuanceFact } from '../src/capabilities/cards/mutations.js';
import { issuanceFactOf } from '../src/capabilities/cards/transitions.js';
import type { Card } from '../src/capabilities/cards/record.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import type { CardOperations, Cards } from '../src/capabilities/cards/store.js';
import type { GroupCommit } from '../src/core/commit/group-commit.js';
import { failpoint } from '../src/shared/failpoints.js';
import {
  namedBy,
  type CardIssuer,
  type FindCardAnswer,
  type IssueAnswer,
} from '../src/core/providers/card-issuer.js';
import type { SubmitAnswer } from '../src/core/providers/transfer-provider.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import { aboutOf } from '../src/core/instructions/instruction.js';
import { sharedParts, type InstructionHandler, type SharedParts } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of all card operations need. */
export type CardActivityDeps = SharedParts & {
  cards: { store: Cards; operations: CardOperations };
  groupCommit: GroupCommit;
  providers: { issuer(name: string): CardIssuer };
};

/** The activities that issue cards. Their names are in histories, so they never change. */
export function createCardIssuanceActivities(deps: CardActivityDeps) {
  const activities = providerActivities(issuanceHandler(deps));
  return {
    submitCardIssuance: activities.submit,
    submitCardIssuanceLocally: activities.submitLocally,
    verifyCardIssuance: activities.verify,
    applyCardIssuanceOutcome: activities.applyOutcome,
  };
}

function issuanceHandler(deps: CardActivityDeps): InstructionHandler<CardOperation> {
  const { groupCommit, providers } = deps;
  const { store: cards, operations } = deps.cards;

  async function cardOf({ tenant_id: tenantId, card_id: id }: CardOperation): Promise<Card> {
    const card = await cards.get(tenantId, id);
    if (!card) throw new Error(`no such card: ${id}`);
    return card;
  }

  /**
   * Commits the issued card here and returns only its reference, because brand and digits must not enter a history. If
   * the commit fails, the activity fails too, and the workflow verifies.
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
    const done = { kind: 'succeeded' as const, amountMinor: null, sessionId, providerRequestId };
    return { ...done, ...namedBy(answer) };
  }

  return {
    name: 'card operation',
    records: operations,
    ...sharedParts(deps),
    capability: 'cards',

    async providerCallsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      const { _id: reference, customer_id: clientReference, type, name } = await cardOf(operation);
      const about = { ...aboutOf(operation), reference };
      return {
        provider: issuer.name,
        // The port requires of every issuer that one reference issues one card.
        resendSafety: { kind: 'idempotent', forMs: null },
        async submit(requestedAt, signal): Promise<SubmitAnswer> {
          const request = { reference, clientReference, type, name, requestedAt };
          return recordAnswer(operation, 'provider_answer', await issuer.issue(request, signal));
        },
        verify: async (signal) =>
          recordAnswer(operation, 'poll', await issuer.findCard(about, signal)),
      };
    },

    async apply({ tenantId, id }, report, origin) {
      const operation = await operations.get(tenantId, id);
      if (!operation) return null;
      const outcome = await commitIssuanceFact(groupCommit, operation, toFact(report, origin));
      return outcome.kind === 'applied' ? outcome.operation : null;
    },
  };
}
