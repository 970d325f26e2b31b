import { newId } from '../../src/shared/ids.js';
import type { About } from '../../src/core/providers/port.js';
import type {
  CardIssuer,
  CardRequest,
  CardFundingRequest,
  CardStateRequest,
} from '../../src/core/providers/card-issuer.js';

/** Scenarios that a client reference selects. An issuer's own test values are mapped to these. */
export type IssueScenario = 'issued' | 'later' | 'refused' | 'withoutAnswer' | 'lost';
export type FundingScenario =
  | 'funded'
  | 'later'
  | 'refused'
  | 'withoutAnswer'
  | 'lost'
  | 'pending'
  | 'failingFirst'
  | 'reversedLater'
  | 'outOfOrder'
  | 'throttledFirst'
  | 'slow'
  | 'slowForGood';
export type DisputeScenario =
  'accepted' | 'later' | 'refused' | 'withoutAnswer' | 'lost' | 'notWithdrawable';
export type StateScenario = 'set' | 'refusedTwice' | 'withoutAnswer' | 'lostOnce' | 'failingFirst';

export type Delivered = { raw: Buffer; headers: Record<string, string | undefined> };

export type CardIssuerHarness = {
  /** With a time limit of 1.5 s or less for each call. */
  issuer: CardIssuer;
  /** The same issuer at an address without a server. */
  unreachable: CardIssuer;
  issues: Record<IssueScenario, string>;
  fundings: Record<FundingScenario, string>;
  states: Record<StateScenario, string>;
  disputes: Record<DisputeScenario, string>;
  /** Our codes for the refusals. */
  refusals: { issue: string; funding: string; state: string; dispute: string };
  /** The first callbacks about a reference, as they came in over HTTP. */
  callbacksAbout(reference: string, count: number): Promise<Delivered[]>;
  /** Someone pays with the card; answers the request that comes in for it. */
  authorizationRequest(card: string, amountMinor: number): Promise<Delivered>;
  /** As above, but the request is answered, with an approval, only when `approve` is called; it resolves when the answer has come. */
  unansweredRequest(
    card: string,
    amountMinor: number,
  ): Promise<{ request: Delivered; approve: () => Promise<void> }>;
  /** Someone pays with the card while no request gets a usable answer; answers the requests that came in. */
  requestsWithoutAnswer(card: string, amountMinor: number): Promise<Delivered[]>;
  /** Someone pays with the card, and one message has several reports about the payment. Answers its request and the message. */
  reportedTogether(card: string, amountMinor: number): Promise<[Delivered, Delivered]>;
  /** Money of an approved payment is taken in these parts, and each part is reported by a message of its own. */
  reportedClearings(token: string, amounts: readonly number[]): Promise<Delivered[]>;
  close(): Promise<void>;
};

/** The traits that decide which parts of the contract an issuer has. The suite compares them with the issuer's own. */
export type IssuerTraits = Pick<CardIssuer['cards'], 'balances' | 'stateSequence'>;

/** Values shared by the parts of the suite; set before the first test. */
export type Subject = {
  harness: CardIssuerHarness;
  issuer: CardIssuer;
  /** A card to work with. */
  card: string;
};

export const never = new AbortController().signal;

/** A question that names our reference alone, as after a lost answer. */
export const about = (reference: string): About => ({ reference, handle: null });

export const unknown = { kind: 'unknown', reason: 'timeout', providerRequestId: null };

/** Orders for a subject that need not be there yet. */
export function ordersFor(at: Subject) {
  const cardOrder = (scenario: IssueScenario): CardRequest => ({
    reference: newId('transfer'),
    clientReference: at.harness.issues[scenario],
    type: 'virtual',
    name: 'Ada Obi',
    requestedAt: new Date(),
  });
  return {
    cardOrder,
    fundingOrder: (scenario: FundingScenario, amountMinor = 250_000n): CardFundingRequest => ({
      reference: newId('transfer'),
      clientReference: at.harness.fundings[scenario],
      card: at.card,
      amountMinor,
      currency: 'NGN',
      requestedAt: new Date(),
    }),
    stateOrder: (
      scenario: StateScenario,
      state: CardStateRequest['state'],
      version: number,
      card = at.card,
    ): CardStateRequest => ({
      card,
      state,
      version,
      clientReference: at.harness.states[scenario],
      requestedAt: new Date(),
    }),
    newCard: async (): Promise<string> => {
      const answer = await at.issuer.issue(cardOrder('issued'), never);
      if (answer.kind !== 'issued') throw new Error(`the card is ${answer.kind}`);
      return answer.card;
    },
    read: ({ raw, headers }: Delivered, now = new Date()) =>
      at.issuer.readMessage(raw, headers, now),
  };
}

/** The same order, sent now. */
export function renewed<Order extends { requestedAt: Date }>(order: Order): Order {
  return { ...order, requestedAt: new Date() };
}
