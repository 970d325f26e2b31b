import { isDoneAtOnce } from './behaviours.js';
import { fundingBehaviour } from './card-behaviours.js';
import type { CardRecord, FundingOrder } from './card-records.js';
import { presentFunding } from './card-wire.js';
import type { CardParts } from './card-context.js';
import { createFundingBooks, type FundingBooks } from './funding-outcomes.js';
import type { Funding } from './funding-state.js';
import { createIntake, type Kind } from './request-handler.js';
import type { IssuerState } from './issuer-state.js';
import { isKeptQuiet } from './state.js';
import { answer, errorAnswer, type Outcome } from './wire.js';

export type Fundings = {
  fund(order: FundingOrder): Outcome;
  /** The newest funding with this reference that was not refused, if there is one. */
  lookup(reference: string): Outcome;
  /** Afterwards nothing of this reference is on the card, and nothing will be. May be repeated. */
  reverse(reference: string): Outcome;
  /** Someone outside decides a pending funding, named by its own or by the client's reference. */
  tell(reference: string, outcome: 'funded' | 'failed'): Outcome;
  /** After a start: takes up what was left undone at the last stop. */
  resume(): void;
};

export function createFundings(parts: CardParts): Fundings {
  const { journal, rules, sendsCallbacks } = parts;
  const { fundings } = parts.state;
  const books = createFundingBooks(parts);
  const present = (funding: Funding) =>
    presentFunding(funding, funding.status === 'funded' && isKeptQuiet(funding, sendsCallbacks));

  function take(order: FundingOrder, at: number): Funding {
    const number = fundings.all.length;
    const refusal = refusalOf(parts.state, order);
    const outcome: CardRecord[] = [];
    if (refusal !== null) {
      outcome.push({ kind: 'funding_refused', funding: number, code: refusal, at });
    } else if (isDoneAtOnce(fundingBehaviour(order.client_reference))) {
      outcome.push(books.moved('funded', number, at));
    }
    journal.commit([{ kind: 'funding_ordered', funding: number, order, at }, ...outcome]);
    const funding = fundings.get(number);
    books.scheduleWhatIsDue(funding);
    return funding;
  }

  const kind: Kind<FundingOrder, Funding> = {
    what: 'funding',
    find: ({ reference }) => fundings.withReference(reference)[0],
    isSame: ({ order }, repeated) => isSameFunding(order, repeated),
    behaviourOf: ({ client_reference }) => fundingBehaviour(client_reference),
    keyOf: ({ reference }) => `funding/${reference}`,
    take,
    present,
  };

  return {
    fund: createIntake(kind, rules),
    lookup(reference) {
      const found = decisive(fundings.withReference(reference));
      return found ? answer(200, present(found)) : noSuchFunding();
    },
    reverse(reference) {
      const all = fundings.withReference(reference);
      const found = decisive(all);
      if (!found) return noSuchFunding();
      if (found.behaviour === 'slow_for_good' && found.status === 'funded') {
        return errorAnswer(422, 'not_reversible', 'the funding can not be reversed');
      }
      for (const funding of all) books.undo(funding);
      return answer(200, present(found));
    },
    tell(reference, outcome) {
      const named = fundings.withReference(reference);
      const found = named.length > 0 ? named : fundings.withClientReference(reference);
      return tell(found, outcome, books.settle);
    },
    resume: books.resume,
  };
}

/** Of several with one reference: a refusal says nothing of what an earlier one has funded. */
function decisive(all: readonly Funding[]): Funding | undefined {
  return all.findLast(({ status }) => status !== 'refused') ?? all.at(-1);
}

function tell(
  candidates: readonly Funding[],
  outcome: 'funded' | 'failed',
  settle: FundingBooks['settle'],
): Outcome {
  const pending = candidates.filter(({ status }) => status === 'pending');
  const funding = pending.at(-1) ?? candidates.at(-1);
  if (!funding) return noSuchFunding();
  if (new Set(pending.map(({ order }) => order.reference)).size > 1) {
    return errorAnswer(409, 'ambiguous', 'several fundings have this client reference');
  }
  const wanted = outcome === 'funded' ? 'funded' : 'refused';
  if (funding.status === 'pending') settle(funding, wanted);
  else if (funding.status !== wanted) {
    return errorAnswer(409, 'already_settled', `the funding is already ${funding.status}`);
  }
  return answer(200, presentFunding(funding));
}

function refusalOf({ cards }: IssuerState, order: FundingOrder): string | null {
  const card = cards.withId(order.card);
  if (!card) return 'no_such_card';
  if (card.state === 'closed') return 'card_closed';
  return fundingBehaviour(order.client_reference) === 'refused' ? 'funding_refused' : null;
}

function isSameFunding(a: FundingOrder, b: FundingOrder): boolean {
  return (
    a.client_reference === b.client_reference &&
    a.card === b.card &&
    a.amount_minor === b.amount_minor
  );
}

function noSuchFunding(): Outcome {
  return errorAnswer(404, 'funding_not_found', 'there is no funding with this reference');
}
