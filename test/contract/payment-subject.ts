import { newId } from '../../src/shared/ids.js';
import type {
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
  | 'redirected';
export type RefundScenario =
  | 'refunded'
  | 'later'
  | 'refused'
  | 'withoutAnswer'
  | 'lost'
  | 'pending'
  | 'failingFirst'
  | 'throttledFirst';

/** The customer's action on the page. */
export type Act = 'pay' | 'pay_once' | 'be_declined' | 'leave';

export type Delivered = { raw: Buffer; headers: Record<string, string | undefined> };

export type PaymentHarness = {
  /** With a time limit of a second or less for each call. */
  provider: PaymentProvider;
  /** The same provider at an address without a server. */
  unreachable: PaymentProvider;
  pages: Record<PageScenario, string>;
  charges: Record<ChargeScenario, string>;
  refunds: Record<RefundScenario, string>;
  /** Our codes for the refusals. */
  refusals: { hard: string; soft: string; page: string; refund: string };
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
    reference: newId('transfer'),
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
    ...ask(own(at.harness.pages[scenario])),
    channel,
    returnUrl: RETURN_URL,
  });
  const chargeOrder = (scenario: ChargeScenario, amountMinor = 300_000n): TokenChargeRequest => ({
    ...ask(own(at.harness.charges[scenario])),
    amountMinor,
    method: at.method.code,
    returnUrl: null,
  });
  const refundOrder = (
    reference: string,
    scenario: RefundScenario = 'refunded',
  ): RefundRequest => ({
    charge: about(reference),
    amountMinor: 100_000n,
    currency: 'NGN',
    marker: newId('transfer'),
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
