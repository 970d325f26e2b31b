import { applyFundingFact, expireFunding } from '../src/cards/funding/apply.js';
import { unwindingOf } from '../src/cards/funding/deadline.js';
import type { FundingFact } from '../src/cards/funding/facts.js';
import type { ExpiryReport } from '../src/cards/funding/reports.js';
import type { CardOperation } from '../src/cards/operation.js';
import { failpoint } from '../src/failpoints.js';
import type { CardIssuer, FindFundingAnswer, FundAnswer } from '../src/providers/card-issuer.js';
import type { Absence, VerifyAnswer } from '../src/providers/provider.js';
import { isOpen } from '../src/pursuits/record.js';
import type { FactOrigin } from '../src/pursuits/facts.js';
import type { FactReport, RecordRef } from '../src/pursuits/reports.js';
import type { CardActivityDeps } from './card-operations.js';
import { load, pursuitActivities, type ProviderCalls, type Pursued } from './pursuits.js';
import { toFact } from './reports.js';

/**
 * An issuer that de-duplicates has no time after which an order can't come any more. Ours was given up when its
 * connection was closed: one that has not been read by then, and so long after, is not lying in any socket.
 */
const UNREAD_MS = 5_000;

/** The activities of fundings and of what unwinds them. Names are in histories; what they do is in pursuits.ts. */
export function createCardFundingActivities(deps: CardActivityDeps) {
  const fundings = pursuedFundings(deps);
  const pursuit = pursuitActivities(fundings);
  return {
    submitFunding: pursuit.send,
    submitFundingHere: pursuit.sendHere,
    verifyFunding: pursuit.verify,
    settleFunding: pursuit.settle,

    /** Has the deadline of a just-in-time funding come? Then it ends here, if nobody has ended it yet. */
    async expireFunding(ref: RecordRef): Promise<ExpiryReport> {
      const operation = await load(fundings, ref);
      await expireFunding(deps.groupCommit, operation);
      const unwinding = await deps.cardOperations.get(ref.tenant, unwindingOf(ref.id));
      const over = !isOpen(await load(fundings, ref));
      return { over, unwinding: unwinding?._id ?? null };
    },
  };
}

/** How issuers are told of fundings, and asked, and what they say is settled. */
function pursuedFundings(deps: CardActivityDeps): Pursued<CardOperation> {
  const { cardOperations, groupCommit, providers, firstTries, log } = deps;
  return {
    name: 'card operation',
    // What an operator has to see of a late funding is the matter of what unwinds it.
    records: {
      ...cardOperations,
      get: async (...ref) => ofItself(await cardOperations.get(...ref)),
    },
    log,
    firstTries,

    callsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      const { absence } = issuer.cards;
      return operation.unwinds === null
        ? { ...fundingCalls(deps, issuer, operation), absence }
        : { ...unwindingCalls(issuer, operation), absence: unread(absence) };
    },

    async apply({ tenant, id }, report, origin) {
      const operation = await cardOperations.get(tenant, id);
      if (!operation) return null;
      await applyFundingFact(groupCommit, operation, asFact(operation, report, origin));
      return ofItself(await cardOperations.get(tenant, id));
    },
  };
}

/** A late funding without the attention that its unwinding lends it, for whoever reads its record. */
function ofItself(operation: CardOperation | null): CardOperation | null {
  const late = operation?.failure?.code === 'deadline_exceeded' && operation.unwinds === null;
  return late ? { ...operation, attention: null } : operation;
}

function fundingCalls(
  { cards }: CardActivityDeps,
  issuer: CardIssuer,
  operation: CardOperation,
): Omit<ProviderCalls, 'absence'> {
  const { _id: reference, tenant, card: id, amount_minor: amountMinor, currency } = operation;
  return {
    provider: issuer.name,
    notAfter: operation.deadline_at,
    async send(requestedAt, signal) {
      const card = await cards.get(tenant, id);
      if (!card?.issued || amountMinor === null) throw new Error(`${id} can not be funded`);
      const order = {
        reference,
        clientReference: operation.transaction_reference ?? reference,
        card: card.issued.card,
        amountMinor,
        currency,
        requestedAt,
      };
      return asPayment(await issuer.fund(order, signal));
    },
    verify: async (signal) => asPayment(await issuer.findFunding(reference, signal)),
  };
}

/**
 * What is on the card, or may still come onto it, is asked back; that may be repeated. What has ended is only asked
 * about.
 */
function unwindingCalls(issuer: CardIssuer, operation: CardOperation) {
  const reference = operation.unwinds ?? operation._id;
  async function verify(signal: AbortSignal): Promise<VerifyAnswer> {
    const found = await issuer.findFunding(reference, signal);
    const { kind } = found;
    const there = kind === 'funded' || kind === 'pending';
    if (!there || !isOpen(operation)) return asPayment(found);
    failpoint('unwind.before');
    const answer = await issuer.reverseFunding(reference, signal);
    failpoint('unwind.answered');
    const { providerRequestId } = answer;
    switch (answer.kind) {
      case 'reversed':
        return { ...answer, amountMinor: null, sessionId: null };
      case 'refused':
        return asPayment(found);
      case 'throttled':
        return { kind: 'unknown', reason: 'throttled', providerRequestId };
      default:
        return answer;
    }
  }
  const send = () => Promise.reject(new Error('an unwinding sends nothing'));
  return { provider: issuer.name, send, verify };
}

const unread = (absence: Absence): Absence =>
  absence.kind === 'deduplicates' ? { kind: 'final_after', ms: UNREAD_MS } : absence;

/** What is funded is, in the words of all that is pursued, paid. */
function asPayment<Other extends FundAnswer | FindFundingAnswer>(answer: Other) {
  type Kept = Exclude<Other, { kind: 'funded' | 'reversed' }>;
  const { kind } = answer;
  if (kind !== 'funded' && kind !== 'reversed') return answer as Kept;
  const { amountMinor, providerRequestId } = answer;
  const payment = { amountMinor, sessionId: null, providerRequestId };
  return { ...payment, kind: kind === 'funded' ? ('paid' as const) : ('reversed' as const) };
}

/** Of an unwinding: still on the card although it was asked back means that it stays there. */
function asFact({ unwinds }: CardOperation, report: FactReport, origin: FactOrigin): FundingFact {
  const fact = toFact(report, origin);
  return unwinds !== null && fact.kind === 'paid' ? { ...fact, kind: 'not_reversible' } : fact;
}
