import { depositId } from '../../src/capabilities/deposits/record.js';
import { billClient, billPaymentBody } from './bill-payments.js';
import { cardClient } from './cards.js';
import { activeToken, chargeBody, paymentClient } from './payments.js';
import type { Service } from './service.js';
import { untilTaken, type CallOptions, type Reply, type TestTenant } from './tenant.js';
import { accountClient } from './virtual-accounts.js';

/** A payment: the collection and the id of its record, and the reference of its effects in the bank's journal. */
export type Payment = {
  collection: 'charges' | 'refunds' | 'card_operations' | 'bill_payments' | 'deposits';
  id: string;
  reference: string;
};

type CallingTenant = Pick<TestTenant, 'id' | 'call' | 'client'>;

let made = 0;
const nextName = (what: string) => `${what}-${process.pid}-${(made += 1)}-789`;

/**
 * Prepares a tenant for payments of all kinds but transfers: a card, a saved payment method, a payment to refund, and a virtual
 * account. Needs a worker. Returns a function that makes one payment of each kind, and needs the API alone.
 */
export async function payerOfEachKind({ bank, deps }: Service, tenant: CallingTenant) {
  const [payments, cards, bills] = [paymentClient(tenant), cardClient(tenant), billClient(tenant)];
  const [card, { token, customer }, paid, account] = await Promise.all([
    cards.issue(),
    activeToken(payments),
    payments.paid(),
    accountClient(tenant).active(),
  ]);
  const merchantInitiated = {
    capture_mode: 'merchant_initiated',
    payment_token_id: token.payment_token_id,
    customer,
  };

  async function idOf(collection: string, reference: string): Promise<string> {
    const found = await deps.database.db
      .collection<{ _id: string }>(collection)
      .findOne({ tenant_id: tenant.id, reference });
    return String(found?._id);
  }

  return async function payEachKind(): Promise<Payment[]> {
    const [charge, refund] = [chargeBody('789', merchantInitiated), nextName('refund')];
    await accepted((under) => payments.charge(charge, under));
    const refunded = {
      charge_reference: paid.reference,
      amount_minor: 1_000,
      reference: refund,
    };
    await accepted((under) => payments.refund(refunded, under));
    const order = { amount_minor: 20_000, transaction_reference: nextName('top-up') };
    const funding = await accepted((under) => cards.act(card.id, 'fund', order, under));
    const billed = billPaymentBody();
    const bill = await accepted((under) => bills.pay(billed, under));
    const deposit = await bank.deposit(account.account_number, { amount_minor: 30_000 });
    const ids = [await idOf('charges', charge.reference), await idOf('refunds', refund)] as const;
    return [
      { collection: 'charges', id: ids[0], reference: `${ids[0]}-1` },
      { collection: 'refunds', id: ids[1], reference: ids[1] },
      { collection: 'card_operations', id: funding.id, reference: funding.id },
      { collection: 'bill_payments', id: bill.id, reference: bill.id },
      { collection: 'deposits', id: depositId('sandbox-bank', deposit), reference: deposit },
    ];
  };
}

/** Sends a request, and again with its key while a busy service answers 503. */
async function accepted<Data>(
  send: (
    under: CallOptions,
  ) => Promise<Pick<Reply, 'status' | 'headers' | 'text'> & { body: { data: Data } }>,
): Promise<Data> {
  const { status, text, body } = await untilTaken(send);
  if (status !== 201 && status !== 202) throw new Error(`not accepted: ${text}`);
  return body.data;
}
