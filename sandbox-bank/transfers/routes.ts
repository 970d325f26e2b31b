import { BANKS } from '../shared/directory.js';
import { readBody } from '../shared/http.js';
import type { Route, RouteEntry } from '../shared/route.js';
import { answer, enquiryBody, setOutcomeBody, transferBody } from '../shared/wire.js';
import type { Transfers } from './transfers.js';

/** The routes of transfers, name enquiry and the bank list. */
export function transferRoutes(transfers: Transfers): RouteEntry[] {
  const submit: Route = {
    call: 'submit',
    read: async (req) => {
      const order = await readBody(req, transferBody);
      return () => transfers.submit(order);
    },
  };
  const enquiry: Route = {
    call: 'enquiry',
    read: async (req) => {
      const body = await readBody(req, enquiryBody);
      return () => transfers.enquire(body);
    },
  };
  return [
    ['/v1/transfers', () => ({ POST: submit })],
    [
      '/v1/transfers/:',
      (reference) => ({ GET: { call: 'lookup', read: () => () => transfers.lookup(reference) } }),
    ],
    ['/v1/name-enquiries', () => ({ POST: enquiry })],
    [
      '/v1/banks',
      () => ({ GET: { call: 'other', read: () => () => answer(200, { banks: BANKS }) } }),
    ],
    [
      '/_sandbox/transfers/:',
      (reference) => ({
        POST: {
          call: null,
          read: async (req) => {
            const { outcome, amount_minor } = await readBody(req, setOutcomeBody);
            return () => transfers.setOutcome(reference, outcome, amount_minor);
          },
        },
      }),
    ],
  ];
}
