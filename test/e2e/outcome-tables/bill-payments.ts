import {
  billClient,
  BILL_MINOR,
  billPaymentBody,
  decideBill,
  TOKEN,
} from '../../support/bill-payments.js';
import type { Reply } from '../../support/tenant.js';
import type { Kind } from './kind.js';

const UNITS = '73.0 kWh';

export const billPayments: Kind = {
  collection: 'bill_payments',
  path: '/billpay/payments',
  body: (suffix) => billPaymentBody(suffix),
  acceptable: { customer_reference: '4503061788' },
  create: (tenant, body, options) =>
    billClient(tenant).pay(body, options) as unknown as Promise<Reply>,
  get: (tenant, id) => billClient(tenant).get(id),
  waitFor: (tenant, id, wanted) => billClient(tenant).waitFor(id, wanted),
  decide: async (service, id, outcome) => void (await decideBill(service, id, outcome)),
  amountMinor: BILL_MINOR,
  totalMinor: BILL_MINOR,
  paidEvent: 'bill.paid',
  matches: {
    accepted: (body) => ({
      ...body,
      customer_name: expect.stringMatching(/^[A-Z]+ [A-Z]+$/),
      receipt: null,
    }),
    unnamed: { customer_name: null },
    completed: {
      amount_minor: BILL_MINOR,
      fee_minor: 0,
      total_minor: BILL_MINOR,
      receipt: { token: expect.stringMatching(TOKEN), units: UNITS },
      attention: null,
    },
    journal: ({ biller_id }) => ({ biller: biller_id }),
    refused: { failure: { code: 'provider_declined' } },
    invalid: { code: 'invalid_account', field: 'customer_reference' },
    incomplete: { receipt: null },
    listed: (view) => ({ ...view, receipt: { token: null, units: UNITS } }),
  },
};
