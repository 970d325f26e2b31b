import { BANKS } from '../shared/directory.js';
import { readBody, validate } from '../shared/http.js';
import type { Route, RouteEntry } from '../shared/route.js';
import {
  answer,
  enquiryBody,
  floatBody,
  listQuery,
  setOutcomeBody,
  transferBody,
} from '../shared/wire.js';
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
  const prepare: Route = {
    call: 'prepare',
    read: async (req) => {
      const body = await readBody(req, enquiryBody);
      return () => transfers.prepare(body);
    },
  };
  const list: Route = {
    call: 'list',
    read: (_req, query) => {
      const filter = validate(Object.fromEntries(query), listQuery);
      return () => transfers.list(filter);
    },
  };
  const setFloat: Route = {
    call: null,
    read: async (req) => {
      const { amount_minor } = await readBody(req, floatBody);
      return () => transfers.setFloat(amount_minor);
    },
  };
  return [
    ['/v1/transfers', () => ({ POST: submit, GET: list })],
    ['/v1/recipients', () => ({ POST: prepare })],
    ['/v1/balance', () => ({ GET: { call: 'balance', read: () => () => transfers.balance() } })],
    ['/_sandbox/float', () => ({ POST: setFloat })],
    [
      '/v1/transfers/:',
      (reference) => ({
        GET: { call: 'lookup', read: () => () => transfers.lookup(reference) },
        DELETE: { call: 'cancel', read: () => () => transfers.cancel(reference) },
      }),
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
