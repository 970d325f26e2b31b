import { isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import { fundingBehaviour } from './behaviours.js';
import type { CardRecord, CardFundingRequest } from './records.js';
import { presentFunding } from './wire.js';
import type { CardContext } from './context.js';
import { createFundingOutcomes, type FundingOutcomes } from './funding-outcomes.js';
import type { Funding } from './funding-state.js';
import { createRequestHandler, type RequestKind } from '../shared/request-handler.js';
import type { IssuerState } from './state.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';

/** The issuer's operations on fundings. */
export type Fundings = {
  fund(order: CardFundingRequest): Outcome;
  /** Finds the newest funding of this name that was not refused, else a refused one; so of an unloading. */
  lookup(name: string, direction: CardFundingRequest['direction']): Outcome;
  /** Afterwards no money under its reference is on the card, now or later. A repeat has no further effect. */
  reverse(name: string): Outcome;
  /** Decides a pending funding or takes one back, for tests; finds it by its own or by the client's reference. */
  setOutcome(
    reference: string,
    setting: { outcome: 'funded' | 'failed' | 'reversed'; amount_minor?: number | undefined },
  ): Outcome;
  /** After a start: schedules the outcomes that were still open at the last stop. */
  resume(): void;
};

/** Creates the issuer's fundings. */
export function createFundings(parts: CardContext): Fundings {
  const { journal, rules, sendsCallbacks, lookup } = parts;
  const { fundings } = parts.state;
  const outcomes = createFundingOutcomes(parts);
  const isWithheld = (funding: Funding) =>
    funding.status === 'funded' && isOutcomeWithheld(funding, sendsCallbacks);
  const present = (funding: Funding) =>
    lookup.named('funding', funding, presentFunding(funding, isWithheld(funding)));
  /** The fundings that a client names. */
  const namedBy = (name: string) => {
    const reference = lookup.referenceOf('funding', name, fundings.all);
    return reference === null ? [] : fundings.withReference(reference);
  };

  function take(order: CardFundingRequest, at: number): Funding {
    const number = fundings.all.length;
    const refusal = refusalOf(parts.state, order);
    const outcome: CardRecord[] = [];
    if (refusal !== null) {
      outcome.push({ kind: 'funding_refused', funding: number, code: refusal, at });
    } else if (isExecutedAtOnce(fundingBehaviour(order.client_reference))) {
      outcome.push(outcomes.moved('funded', number, at));
    }
    journal.commit([{ kind: 'funding_ordered', funding: number, order, at }, ...outcome]);
    const funding = fundings.get(number);
    outcomes.scheduleNextOutcome(funding);
    return funding;
  }

  const kind: RequestKind<CardFundingRequest, Funding> = {
    what: 'funding',
    find: ({ reference }) => fundings.withReference(reference).at(-1),
    isSame: ({ order }, repeated) => isSameFunding(order, repeated),
    behaviourOf: ({ client_reference }) => fundingBehaviour(client_reference),
    keyOf: ({ reference }) => `funding/${reference}`,
    accept: take,
    present,
  };

  const handle = createRequestHandler(kind, rules);

  return {
    fund: (order) => (parts.balances === 'ours' ? noBalances() : handle(order)),
    lookup(name, direction) {
      const found = decisive(namedBy(name).filter(({ order }) => order.direction === direction));
      if (!found || rules.copy.lacks(found.order.reference)) return noSuchFunding();
      return answer(200, present(found));
    },
    reverse(name) {
      const all = namedBy(name);
      const found = decisive(all);
      if (!found) return noSuchFunding();
      if (found.behaviour === 'slow_for_good' && found.status === 'funded') {
        return errorAnswer(422, 'not_reversible', 'the funding can not be reversed');
      }
      for (const funding of all) outcomes.undo(funding);
      return answer(200, present(found));
    },
    setOutcome(reference, { outcome, amount_minor: partMinor }) {
      const named = fundings.withReference(reference);
      const found = named.length > 0 ? named : fundings.withClientReference(reference);
      if (outcome === 'reversed') {
        const funding = decisive(found);
        if (!funding) return noSuchFunding();
        return outcomes.takeBack(funding, partMinor)
          ? answer(200, presentFunding(funding))
          : errorAnswer(409, 'nothing_to_reverse', 'there is not so much to take back');
      }
      return setFundingOutcome(found, outcome, outcomes.applyOutcome);
    },
    resume: outcomes.resume,
  };
}

/** Selects among fundings with one reference: a refusal does not undo an earlier funding. */
function decisive(all: readonly Funding[]): Funding | undefined {
  return all.findLast(({ status }) => status !== 'refused') ?? all.at(-1);
}

function setFundingOutcome(
  candidates: readonly Funding[],
  outcome: 'funded' | 'failed',
  applyOutcome: FundingOutcomes['applyOutcome'],
): Outcome {
  const pending = candidates.filter(({ status }) => status === 'pending');
  const funding = pending.at(-1) ?? candidates.at(-1);
  if (!funding) return noSuchFunding();
  if (new Set(pending.map(({ order }) => order.reference)).size > 1) {
    return errorAnswer(409, 'ambiguous', 'several fundings have this client reference');
  }
  const wanted = outcome === 'funded' ? 'funded' : 'refused';
  if (funding.status === 'pending') applyOutcome(funding, wanted);
  else if (funding.status !== wanted) {
    return errorAnswer(409, 'already_settled', `the funding is already ${funding.status}`);
  }
  return answer(200, presentFunding(funding));
}

function refusalOf({ cards }: IssuerState, order: CardFundingRequest): string | null {
  const card = cards.withId(order.card);
  if (!card) return 'no_such_card';
  if (card.state === 'closed' && order.direction === 'to_card') return 'card_closed';
  return fundingBehaviour(order.client_reference) === 'refused' ? 'funding_refused' : null;
}

function isSameFunding(a: CardFundingRequest, b: CardFundingRequest): boolean {
  return (
    a.client_reference === b.client_reference &&
    a.card === b.card &&
    a.direction === b.direction &&
    a.amount_minor === b.amount_minor
  );
}

/** The answer of an issuer that holds no balances of cards. */
const noBalances = () => errorAnswer(409, 'no_balances', 'the balances of cards are not held here');

function noSuchFunding(): Outcome {
  return errorAnswer(404, 'funding_not_found', 'there is no funding with this reference');
}
