import { newId } from '../../src/shared/ids.js';
import type {
  Channel,
  TokenChargeRequest,
  SavedMethod,
  ChargePageRequest,
  PaymentEvent,
  PaymentProvider,
  RefundRequest,
} from '../../src/core/providers/payment-provider.js';

/** Scenarios that a client reference selects. A provider's own test values are mapped to these. */
export type PageScenario =
  'page' | 'later' | 'withoutAnswer' | 'lost' | 'pending' | 'failingFirst' | 'throttledFirst';
export type ChargeScenario =
  | 'paid'
  | 'later'
  | 'declinedHard'
  | 'declinedSoft'
  | 'declinedSoftTwice'
  | 'withoutAnswer'
  | 'lost'
  | 'pending'
  | 'failingFirst'
  | 'outOfOrder'
  | 'throttledFirst'
  | 'anotherAmount'
  | 'redirected'
  | 'feeLater'
  | 'surcharged';
export type RefundScenario =
  | 'refunded'
  | 'later'
  | 'refused'
  | 'withoutAnswer'
  | 'lost'
  | 'pending'
  | 'failingFirst'
  | 'throttledFirst'
  | 'needsAccount';

/** The customer's action on the page. */
export type Act = 'pay' | 'pay_once' | 'be_declined' | 'leave';

type Scenarios<All extends string, Optional extends All> = Record<Exclude<All, Optional>, string> &
  Partial<Record<Optional, string>>;

export type Delivered = { raw: Buffer; headers: Record<string, string | undefined> };

/** Properties in which good providers differ. Objects are parts of answers. */
export type PaymentWays = {
  page: { handle: unknown; expiresAt: unknown };
  /** The state of a page on which nobody has paid. */
  unpaid: object;
  /** The query parameters of the return address, beside our reference. */
  adds: readonly string[];
  events: { paid: string; refunded: string };
  /** The bank that a saved card names. */
  cardBank: string | null;
  /** The state after a decline and after the customer left, and the event that reports it. */
  declinedPage: { state: object; event: string | null };
  leftPage: { state: object; event: string | null };
  /** A method that serves once is marked as such, or is none at all. */
  singleUse: 'marked' | 'left_out';
  /** True if a page takes payments from a bank account that we name. */
  accountsOnPages: boolean;
  /** The means of payment that a setup saves. */
  setup: Channel;
  /** The answer to the repeat of a charge, at a provider that de-duplicates. */
  repeats: 'first_result' | 'conflict';
  /** The charge of a revoked method, and of one that never was. */
  revoked: object;
  noMethod: object;
  /** The answer to the second revocation of a method. */
  revokedAgain: 'revoked' | 'not_found';
  refunds: {
    /** `later`: a refund is accepted as pending, and its outcome follows. */
    outcomes: 'at_once' | 'later';
    chargeHandle: unknown;
    /** The state of a refund that was made and has failed afterwards. */
    failedLate: 'returned' | 'rejected';
    /** Answers to a refund of more than is left, and of a charge that is not paid. */
    exceeds: object;
    notPaid: object;
  };
  /** A signature is good for a time only. */
  signsTime: boolean;
};

export type PaymentHarness = {
  /** With a time limit of a second or less for each call. */
  provider: PaymentProvider;
  /** The same provider at an address without a server. */
  unreachable: PaymentProvider;
  /** Without the scenarios that the provider does not have. */
  pages: Scenarios<PageScenario, 'pending'>;
  charges: Scenarios<ChargeScenario, 'outOfOrder' | 'feeLater'>;
  refunds: Record<RefundScenario, string>;
  /** Our codes for the refusals. */
  refusals: { hard: string; soft: string; page: string; refund: string | null };
  ways: PaymentWays;
  /** The amounts of refunds that select a scenario. */
  refundAmounts?: Partial<Record<RefundScenario, bigint>>;
  /** The acts of others at the provider: the customer's bank, and its own staff. They move money without a request of ours. */
  desk: {
    /** Opens a dispute of the whole payment, or decides the open one. */
    dispute(reference: string, step: 'opened' | 'won' | 'lost'): Promise<void>;
    refund(reference: string, amountMinor: bigint): Promise<void>;
    /** A refund that was made fails. */
    failRefund(refund: { id: string; marker: string }): Promise<void>;
  };
  /** As a browser would; answers where it leads to. */
  act(url: string, act: Act): Promise<string | null>;
  /** The first callbacks about a charge, as they came in over HTTP. */
  callbacksAbout(reference: string, count: number): Promise<Delivered[]>;
  close(): Promise<void>;
};

/** Values shared by the parts of the suite; set before the first test. */
export type Subject = {
  harness: PaymentHarness;
  provider: PaymentProvider;
  /** Left by a card that pays, now and later. */
  method: SavedMethod;
};

export const never = new AbortController().signal;

export const unknown = { kind: 'unknown', reason: 'timeout', providerRequestId: null };

/** A question by our reference alone. */
export const about = (reference: string) => ({ reference, handle: null });

export const RETURN_URL = 'https://shop.example/paid?cart=7';

/** Orders for a subject that need not be there yet. */
export function ordersFor(at: Subject) {
  let names = 0;
  const ask = (clientReference: string) => ({
    reference: `${newId('charge')}-1`,
    clientReference,
    amountMinor: 300_000n,
    currency: 'NGN' as const,
    customer: { id: 'customer-1', email: 'ada@example.com', name: 'Ada Obi' },
    requestedAt: new Date(),
  });
  /** Of its own, with the end that chooses the scenario. */
  const own = (end: string) => `${names++}-${end}`;
  const read = ({ raw, headers }: Delivered, now = new Date()) =>
    at.provider.readMessage(raw, headers, now);

  const pageOrder = (
    scenario: PageScenario = 'page',
    channel: ChargePageRequest['channel'] = { type: 'card' },
  ): ChargePageRequest => ({
    ...ask(own(at.harness.pages[scenario] ?? '')),
    channel,
    returnUrl: RETURN_URL,
  });
  const chargeOrder = (scenario: ChargeScenario, amountMinor = 300_000n): TokenChargeRequest => ({
    ...ask(own(at.harness.charges[scenario] ?? '')),
    amountMinor,
    method: at.method.code,
    returnUrl: null,
  });
  const refundOrder = (
    reference: string,
    scenario: RefundScenario = 'refunded',
  ): RefundRequest => ({
    charge: about(reference),
    amountMinor: at.harness.refundAmounts?.[scenario] ?? 100_000n,
    currency: 'NGN',
    marker: newId('refund'),
    clientReference: own(at.harness.refunds[scenario]),
    requestedAt: new Date(),
  });

  /** A page, and where it is. */
  async function open(order = pageOrder()): Promise<string> {
    const answer = await at.provider.openPage(order, never);
    if (answer.kind !== 'page') throw new Error(`the page is ${answer.kind}`);
    return answer.url;
  }

  /** A page that the customer has paid, and what it has left. */
  async function left(act: Act = 'pay', order = pageOrder()): Promise<SavedMethod> {
    await at.harness.act(await open(order), act);
    const state = await at.provider.verifyCharge(about(order.reference), never);
    if (state.kind !== 'succeeded' || !state.method) throw new Error(`it is ${state.kind}`);
    return state.method;
  }

  /** The reference of a charge that was paid. */
  async function paid(): Promise<string> {
    const order = chargeOrder('paid');
    const { kind } = await at.provider.confirmCharge({ ...order, handle: null }, never);
    if (kind !== 'succeeded') throw new Error(`the charge is ${kind}`);
    return order.reference;
  }

  function eventOf(delivered: Delivered | undefined): PaymentEvent {
    const reading = delivered && read(delivered);
    if (reading?.kind !== 'event') throw new Error(`the callback is ${reading?.kind}`);
    return reading.event;
  }

  return { pageOrder, chargeOrder, refundOrder, open, left, paid, read, eventOf };
}

/** The same order, sent now. */
export function renewed<Order extends { requestedAt: Date }>(order: Order): Order {
  return { ...order, requestedAt: new Date() };
}
