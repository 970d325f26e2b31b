import { applyIssueFact, issueFactOf } from '../src/cards/issuing/apply.js';
import type { Card } from '../src/cards/card.js';
import type { CardOperation } from '../src/cards/operation.js';
import { failpoint } from '../src/failpoints.js';
import type { FindCardAnswer, IssueAnswer } from '../src/providers/card-issuer.js';
import type { InitiateAnswer } from '../src/providers/provider.js';
import type { FactOrigin } from '../src/pursuits/facts.js';
import type { CardActivityDeps } from './card-operations.js';
import { pursuitActivities, type Pursued } from './pursuits.js';
import { toFact } from './reports.js';

/** The activities that have a card issued. Names are in histories; what they do is in pursuits.ts. */
export function createCardIssuingActivities(deps: CardActivityDeps) {
  const pursuit = pursuitActivities(pursuedIssues(deps));
  return {
    issueCard: pursuit.send,
    issueCardHere: pursuit.sendHere,
    verifyCardIssue: pursuit.verify,
    settleCardIssue: pursuit.settle,
  };
}

/** How issuers are told of a card, by our id of it, and what they say is settled. */
function pursuedIssues(deps: CardActivityDeps): Pursued<CardOperation> {
  const { cards, cardOperations, groupCommit, providers, firstTries, log } = deps;

  async function cardOf({ tenant, card: id }: CardOperation): Promise<Card> {
    const card = await cards.get(tenant, id);
    if (!card) throw new Error(`there is no ${id}`);
    return card;
  }

  /**
   * Brand and digits have no business in a history: they are booked here, where they are heard, and the workflow
   * learns that it is so. What could not be booked was not heard, and is asked for again.
   */
  async function keep<Answer extends IssueAnswer | FindCardAnswer>(
    operation: CardOperation,
    via: FactOrigin['via'],
    answer: Answer,
  ) {
    if (answer.kind !== 'issued') return answer as Exclude<Answer, { kind: 'issued' }>;
    const { providerRequestId, card: sessionId } = answer;
    const fact = issueFactOf(answer, { via, actor: null, providerRequestId, note: null });
    failpoint('issue.heard');
    if (fact) await applyIssueFact(groupCommit, operation, fact);
    return { kind: 'paid' as const, amountMinor: null, sessionId, providerRequestId };
  }

  return {
    name: 'card operation',
    records: cardOperations,
    log,
    firstTries,

    callsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      return {
        provider: issuer.name,
        // Of every issuer: a card is issued once per reference.
        absence: { kind: 'deduplicates' },
        async send(requestedAt, signal): Promise<InitiateAnswer> {
          const {
            _id: reference,
            customer_id: clientReference,
            type,
            name,
          } = await cardOf(operation);
          const order = { reference, clientReference, type, name, requestedAt };
          return keep(operation, 'provider_answer', await issuer.issue(order, signal));
        },
        verify: async (signal) =>
          keep(operation, 'poll', await issuer.findCard(operation.card, signal)),
      };
    },

    async apply({ tenant, id }, report, origin) {
      const operation = await cardOperations.get(tenant, id);
      if (!operation) return null;
      const outcome = await applyIssueFact(groupCommit, operation, toFact(report, origin));
      return outcome.kind === 'issueFact' ? outcome.operation : null;
    },
  };
}
