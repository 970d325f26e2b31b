import { readBody } from '../shared/http.js';
import type { Route, RouteEntry } from '../shared/route.js';
import { setOutcomeBody, type Outcome } from '../shared/wire.js';
import type { Bills } from './bills.js';
import { billBody, customerBody } from './wire.js';

/** The routes of the billers, and the control for tests. */
export const billRoutes = (bills: Bills): RouteEntry[] => [
  ['/v1/bill-categories', () => ({ GET: question(bills.categories) })],
  ['/v1/billers', () => ({ GET: question(bills.billers) })],
  ['/v1/billers/:/items', (biller) => ({ GET: question(() => bills.items(biller)) })],
  [
    '/v1/bill-customers',
    () => ({
      POST: {
        call: 'enquiry',
        read: async (req) => {
          const customer = await readBody(req, customerBody);
          return () => bills.validate(customer);
        },
      },
    }),
  ],
  [
    '/v1/bills',
    () => ({
      POST: {
        call: 'submit',
        read: async (req) => {
          const order = await readBody(req, billBody);
          return () => bills.pay(order);
        },
      },
    }),
  ],
  [
    '/v1/bills/:',
    (reference) => ({ GET: { call: 'lookup', read: () => () => bills.lookup(reference) } }),
  ],
  [
    '/_sandbox/bills/:',
    (reference) => ({
      POST: {
        call: null,
        read: async (req) => {
          const { outcome, amount_minor } = await readBody(req, setOutcomeBody);
          return () => bills.setOutcome(reference, outcome, amount_minor);
        },
      },
    }),
  ],
];

/** A question about the catalogue. It is never faulty. */
const question = (ask: () => Outcome): Route => ({ call: 'other', read: () => ask });
