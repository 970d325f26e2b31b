import { readBody, readForm, validate } from '../shared/http.js';
import type { RouteEntry } from '../shared/route.js';
import type { Acquirer } from './acquirer.js';
import {
  authorizedBody,
  deskRefundBody,
  emptyBody,
  feeBody,
  pageBody,
  prepareBody,
  disputesQuery,
  refundAccountBody,
  refundBody,
  refundsQuery,
  revokeBody,
  setChargeOutcomeBody,
  setDisputeBody,
  setRefundOutcomeBody,
  setupBody,
} from './wire.js';

/** The acquirer's routes: charges, refunds, payment pages, and the controls for tests. */
export function acquirerRoutes(acquirer: Acquirer): RouteEntry[] {
  return [
    ...chargeRoutes(acquirer),
    ...setupRoutes(acquirer),
    ...refundRoutes(acquirer),
    ...pageRoutes(acquirer),
    ...switches(acquirer),
  ];
}

function chargeRoutes({ charges }: Acquirer): RouteEntry[] {
  return [
    [
      '/v1/charges',
      () => ({
        POST: {
          call: 'initialize',
          read: async (req) => {
            const order = await readBody(req, pageBody);
            return () => charges.initialize(order);
          },
        },
      }),
    ],
    [
      '/v1/authorized-charges',
      () => ({
        POST: {
          call: 'charge',
          read: async (req) => {
            const order = await readBody(req, authorizedBody);
            return () => charges.charge(order);
          },
        },
      }),
    ],
    [
      '/v1/charge-preparations',
      () => ({
        POST: {
          call: 'prepare',
          read: async (req) => {
            const body = await readBody(req, prepareBody);
            return () => charges.prepare(body);
          },
        },
      }),
    ],
    [
      '/v1/charges/:',
      (reference) => ({ GET: { call: 'lookup', read: () => () => charges.lookup(reference) } }),
    ],
    [
      '/v1/charges/:/cancel',
      (reference) => ({
        POST: {
          call: 'cancel',
          read: async (req) => {
            await readBody(req, emptyBody);
            return () => charges.cancel(reference);
          },
        },
      }),
    ],
    [
      '/v1/authorizations/revoke',
      () => ({
        POST: {
          call: 'revoke',
          read: async (req) => {
            const { authorization } = await readBody(req, revokeBody);
            return () => charges.revoke(authorization);
          },
        },
      }),
    ],
  ];
}

function setupRoutes({ charges }: Acquirer): RouteEntry[] {
  return [
    [
      '/v1/setups',
      () => ({
        POST: {
          call: 'setup',
          read: async (req) => {
            const order = await readBody(req, setupBody);
            return () => charges.initialize(order);
          },
        },
      }),
    ],
    [
      '/v1/setups/:',
      (reference) => ({
        GET: { call: 'lookup', read: () => () => charges.lookupSetup(reference) },
      }),
    ],
  ];
}

function refundRoutes({ refunds, disputes }: Acquirer): RouteEntry[] {
  return [
    [
      '/v1/refunds',
      () => ({
        GET: {
          call: 'lookup',
          read: (_req, query) => {
            const wanted = validate(Object.fromEntries(query), refundsQuery);
            return () => refunds.list(wanted);
          },
        },
        POST: {
          call: 'refund',
          read: async (req) => {
            const order = await readBody(req, refundBody);
            return () => refunds.refund(order);
          },
        },
      }),
    ],
    [
      '/v1/refunds/:/account',
      (id) => ({
        POST: {
          call: 'refund',
          read: async (req) => {
            await readBody(req, refundAccountBody);
            return () => refunds.giveAccount(id);
          },
        },
      }),
    ],
    [
      '/v1/charge-disputes',
      () => ({
        GET: {
          call: 'lookup',
          read: (_req, query) => {
            const wanted = validate(Object.fromEntries(query), disputesQuery);
            return () => disputes.listAll(wanted);
          },
        },
      }),
    ],
    [
      '/v1/charges/:/disputes',
      (charge) => ({ GET: { call: 'lookup', read: () => () => disputes.list(charge) } }),
    ],
  ];
}

/** Pages for the customer's browser: no secret, no script, plain forms. */
function pageRoutes({ pages }: Acquirer): RouteEntry[] {
  return [
    [
      '/pay/:',
      (accessCode) => ({
        GET: { call: null, read: () => () => pages.show(accessCode) },
        POST: {
          call: null,
          read: async (req) => {
            const form = await readForm(req);
            return () => pages.submit(accessCode, form);
          },
        },
      }),
    ],
  ];
}

function switches({ setChargeOutcome, charges, refunds, disputes, desk }: Acquirer): RouteEntry[] {
  return [
    [
      '/_sandbox/charges/:/disputes',
      (name) => ({
        POST: {
          call: null,
          read: async (req) => {
            const setting = await readBody(req, setDisputeBody);
            return () => disputes.set(name, setting);
          },
        },
      }),
    ],
    [
      '/_sandbox/charges/:',
      (name) => ({
        POST: {
          call: null,
          read: async (req) => {
            const setting = await readBody(req, setChargeOutcomeBody);
            return () => setChargeOutcome(name, setting);
          },
        },
      }),
    ],
    [
      '/_sandbox/charges/:/fee',
      (name) => ({
        POST: {
          call: null,
          read: async (req) => {
            const { fee_minor } = await readBody(req, feeBody);
            return () => charges.tellFee(name, fee_minor);
          },
        },
      }),
    ],
    [
      '/_sandbox/charges/:/refunds',
      (name) => ({
        POST: {
          call: null,
          read: async (req) => {
            const { amount_minor } = await readBody(req, deskRefundBody);
            return () => desk.refund(name, amount_minor);
          },
        },
      }),
    ],
    [
      '/_sandbox/refunds/:',
      (name) => ({
        POST: {
          call: null,
          read: async (req) => {
            const { outcome } = await readBody(req, setRefundOutcomeBody);
            return () => refunds.setOutcome(name, outcome);
          },
        },
      }),
    ],
  ];
}
