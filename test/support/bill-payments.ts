import type { BillPayment as BillPaymentView } from '../../client/src/index.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import { unlessKeyed, type CallOptions, type Reply, type TestTenant } from './tenant.js';

export type { BillPaymentView };

/** An answer whose data is a bill payment. */
export type BillPaymentReply = Omit<Reply, 'body'> & {
  body: Omit<Reply['body'], 'data'> & { data: BillPaymentView };
};

/** The amount of `billPaymentBody()`. */
export const BILL_MINOR = 500_000;

/** A token as the sandbox's billers give it. */
export const TOKEN = /^[0-9]{4}(-[0-9]{4}){4}$/;

let bodies = 0;

/** The body of a payment of a prepaid meter. The suffix of its customer's reference selects what the biller does. */
export function billPaymentBody(suffix = '789', changes: Record<string, unknown> = {}) {
  bodies += 1;
  return {
    biller_id: 'harbour-electric',
    item_id: 'harbour-prepaid',
    customer_reference: `4503061${suffix}`,
    amount_minor: BILL_MINOR,
    reference: `bill-${process.pid}-${bodies}`,
    ...changes,
  };
}

/** Creates bill payments for a tenant, and waits for their ends. */
export function billClient(tenant: Pick<TestTenant, 'call' | 'client'>) {
  const pay = async (body: Record<string, unknown>, options?: CallOptions) =>
    (await unlessKeyed(
      (given) => tenant.call('POST', '/billpay/payments', JSON.stringify(body), given),
      options,
      body,
    )) as unknown as BillPaymentReply;
  const get = async (id: string): Promise<BillPaymentView> =>
    (await tenant.client.getBillPayment({ id })).data;
  return {
    pay,
    get,
    /** Creates a payment that must be accepted, and returns its id. */
    async send(suffix?: string, changes?: Record<string, unknown>): Promise<string> {
      const { status, text, body } = await pay(billPaymentBody(suffix, changes));
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      return body.data.id;
    },
    /** Waits until a payment has this status, or satisfies the function. */
    async waitFor(id: string, wanted: string | ((payment: BillPaymentView) => boolean)) {
      const fits =
        typeof wanted === 'string' ? (p: BillPaymentView) => p.status === wanted : wanted;
      return eventually(`${id} is ${String(wanted)}`, async () => {
        const payment = await get(id);
        return fits(payment) ? payment : undefined;
      });
    },
  };
}

/** A client for bill payments. */
export type BillClient = ReturnType<typeof billClient>;

/** The effects at the billers for a payment. */
export const billEffects = async ({ bank }: Service, id: string) =>
  (await bank.journal(id)).map(({ kind, amount_minor }) => ({ kind, amount_minor }));

/** Decides a pending bill, whenever the biller gets it. */
export const decideBill = (
  { bank }: Service,
  id: string,
  outcome: 'paid' | 'failed',
  amountMinor?: number,
) =>
  eventually(`the biller knows ${id}`, async () =>
    (await bank.setBillOutcome(id, outcome, amountMinor)) === 200 ? true : undefined,
  );
