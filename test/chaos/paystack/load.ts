import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newCustomer, paymentClient, type ChargeView } from '../../support/payments.js';
import { transferBody, type TestTenant } from '../../support/tenant.js';
import type { Random } from '../random-faults/random.js';

/** Endings of recipients' accounts: paid, refused, lost, not found at first, repeated, reversed, never reported. */
const RECIPIENTS = ['100', '100', '100', '002', '004', '005', '006', '009', '010', '014', '020'];
/** Last two digits of refunds: failed after they were made, refused, and listed late. */
const REFUNDS = [0, 0, 0, 11, 13, 14, 16, 17];
/** The outcomes of later charges of a card. */
const LATER = ['success', 'success', 'lost', 'lost_before', 'expired'];
const CHOICES = ['pay', 'pay', 'pay', 'surcharge'];
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404, 422]);
const PAGE_OPENS_WITHIN = 100;
/** The path of refunds. */
export const REFUNDED = '/payments/refunds';
/** The path of recurring charges. */
export const SCHEDULED = '/payments/recurring-charges';

/** A request that a tenant has repeated under its key until it was answered. */
export type Asked = { path: string; reference: string; amount: number; accepted: boolean };
type Body = { reference: string; amount_minor: number };
type Card = { customer: ReturnType<typeof newCustomer>; payment_token_id: string };

/** The clients of a random-fault run, and what they have asked for. */
export type Load = ReturnType<typeof createLoad>;

/** Creates clients of one tenant: transfers, charges on pages, renewals of saved cards by request and by Schedule, and refunds. */
export function createLoad(tenant: TestTenant, random: Random) {
  const payments = paymentClient(tenant);
  const asked: Asked[] = [];
  const cards: Card[] = [];
  const paid: ChargeView[] = [];

  /** Asks for a record, and notes the answer. Returns its reference, or null if the request is refused. */
  async function ask(path: string, body: Body): Promise<string | null> {
    const { accepted } = await untilAnswered(tenant, path, body);
    const { reference, amount_minor: amount } = body;
    asked.push({ path, reference, amount, accepted });
    return accepted ? reference : null;
  }

  const anyAmount = () => 100 * Math.round(random.between(2_000, 4_000));

  /** The charge, once it has ended or waits for its customer; null if that takes too long. */
  async function shown(reference: string, wanted: readonly string[]): Promise<ChargeView | null> {
    for (let tries = 0; tries < PAGE_OPENS_WITHIN; tries += 1) {
      const charge = await payments.get(reference).catch(() => null);
      if (charge && wanted.includes(charge.status)) return charge;
      await sleep(200);
    }
    return null;
  }

  /** The customer pays the page, perhaps after a decline. */
  async function pay({ next_action: next }: ChargeView): Promise<void> {
    if (!next) return;
    if (random.chance(0.2)) await onPage(next.url, 'decline', 'success');
    await onPage(next.url, random.pick(CHOICES), random.pick(LATER));
  }

  async function chargeOnPage(): Promise<void> {
    const customer = newCustomer();
    const token = await payments.token(customer).catch(() => null);
    if (!token) return;
    const { payment_token_id } = token;
    const body = { reference: `page-${randomUUID()}`, amount_minor: anyAmount() };
    const own = { capture_mode: 'customer_action_required', customer, payment_token_id };
    const reference = await ask('/payments/charges', { ...body, ...own });
    const open = reference && (await shown(reference, ['requires_action']));
    if (open) await pay(open);
    const charge = reference && (await shown(reference, ['completed', 'failed']));
    if (!charge || charge.status !== 'completed') return;
    paid.push(charge);
    cards.push({ customer, payment_token_id });
  }

  async function renew(): Promise<void> {
    if (cards.length === 0) return chargeOnPage();
    const own = { ...random.pick(cards), capture_mode: 'merchant_initiated' };
    const body = { reference: `renewal-${randomUUID()}`, amount_minor: anyAmount() };
    await ask('/payments/charges', { ...body, ...own });
  }

  /** A recurring charge of one period, which its Schedule charges in a moment. The charge has the period as its reference. */
  async function subscribe(): Promise<void> {
    if (cards.length === 0) return chargeOnPage();
    const { payment_token_id } = random.pick(cards);
    const amount = anyAmount();
    const start = new Date(Date.now() + random.between(1_000, 20_000)).toISOString();
    const terms = { amount_minor: amount, interval: 'day', count: 1, start_at: start };
    const body = { ...terms, payment_token_id };
    const { reply, accepted } = await untilAnswered(tenant, SCHEDULED, body);
    if (!accepted) return;
    const { id } = (reply.body as { data: { id: string } }).data;
    asked.push({ path: SCHEDULED, reference: `${id}-0`, amount, accepted });
  }

  async function refund(): Promise<void> {
    if (paid.length === 0) return chargeOnPage();
    const { reference: charge_reference } = random.pick(paid);
    const amount_minor = 100 * Math.round(random.between(10, 300)) + random.pick(REFUNDS);
    const body = { reference: `refund-${randomUUID()}`, amount_minor };
    await ask(REFUNDED, { ...body, charge_reference } as Body);
  }

  async function transfer(): Promise<void> {
    await ask('/transfers', transferBody(random.pick(RECIPIENTS), { amount_minor: anyAmount() }));
  }

  const onceEach = [renew, subscribe, refund];
  const ACTS = [transfer, transfer, transfer, chargeOnPage, chargeOnPage, ...onceEach];
  return {
    asked,
    /** One client, until the time is over. */
    async run(untilMs: number): Promise<void> {
      while (performance.now() < untilMs) {
        await random.pick(ACTS)();
        await sleep(random.between(50, 300));
      }
    },
    /** Makes what a short run on a slow machine may not have had yet. */
    async makeMissing(): Promise<void> {
      const made = new Set(asked.filter(({ accepted }) => accepted).map(({ path }) => path));
      if (!made.has('/transfers')) await transfer();
      if (!made.has(SCHEDULED)) await subscribe();
      if (!made.has(REFUNDED)) await refund();
    },
    /** The customers pay the pages that are still open. A service that refuses for a moment shows them later. */
    async payOpenPages(): Promise<void> {
      const open = await payments.list('?status=requires_action&limit=100').catch(() => null);
      for (const { reference } of open?.body.data ?? []) {
        const charge = await payments.get(reference).catch(() => null);
        if (charge) await pay(charge);
      }
    },
  };
}

/** Sends a request of a tenant under one key until it is answered. */
export async function untilAnswered(tenant: TestTenant, path: string, body: object) {
  const key = randomUUID();
  for (;;) {
    const reply = await tenant.call('POST', path, JSON.stringify(body), { key }).catch(() => null);
    const accepted = reply?.status === 201;
    if (reply && (accepted || REFUSALS.has(reply.status))) return { reply, accepted };
    await sleep(200);
  }
}

async function onPage(url: string, choice: string, next: string): Promise<void> {
  const body = new URLSearchParams({ choice, next });
  const post = () => fetch(url, { method: 'POST', body, redirect: 'manual' });
  // A kept connection may end under the request: the customer presses the button again.
  await post().catch(post);
}
