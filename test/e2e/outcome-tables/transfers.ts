import { ORDER_TOTAL_MINOR, transferBody } from '../../support/tenant.js';
import type { Kind } from './kind.js';

const AMOUNT_MINOR = 150_000;
const NAME = /^[A-Z]+ [A-Z]+$/;
const BANK = 'Guaranty Trust Bank';

export const transfers: Kind = {
  collection: 'transfers',
  path: '/transfers',
  body: (suffix) => transferBody(suffix),
  acceptable: { recipient_account: '0123456788' },
  create: (tenant, body, options) => tenant.transfer(body, options),
  get: (tenant, id) => tenant.get(id),
  waitFor: (tenant, id, wanted) => tenant.waitFor(id, wanted),
  decide: ({ bank }, id, outcome) => bank.decideTransfer(id, outcome),
  amountMinor: AMOUNT_MINOR,
  totalMinor: ORDER_TOTAL_MINOR,
  paidEvent: 'transfer.paid',
  matches: {
    accepted: ({ reference, recipient_account }) => ({
      reference,
      recipient_account,
      recipient_name: expect.stringMatching(NAME),
      recipient_bank: BANK,
      total_minor: ORDER_TOTAL_MINOR,
    }),
    unnamed: { recipient_name: null, recipient_bank: BANK },
    completed: {
      amount_minor: AMOUNT_MINOR,
      fee_minor: 1_000,
      total_minor: ORDER_TOTAL_MINOR,
      session_id: expect.stringMatching(/^[0-9]{30}$/),
    },
    journal: () => ({}),
    refused: { failure: { code: 'account_closed' }, completed_at: null },
    invalid: { code: 'invalid_account' },
    incomplete: {},
    listed: (view) => view,
  },
};
