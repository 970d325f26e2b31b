import { readBody, readForm } from '../shared/http.js';
import type { RouteEntry } from '../shared/route.js';
import type { Acquirer } from './acquirer.js';
import {
  authorizedBody,
  deskRefundBody,
  feeBody,
  pageBody,
  refundBody,
  revokeBody,
  setChargeOutcomeBody,
  setRefundOutcomeBody,
} from './wire.js';

/** The acquirer's routes: charges, refunds, payment pages, and the controls for tests. */
export function acquirerRoutes(acquirer: Acquirer): RouteEntry[] {
  return [
    ...chargeRoutes(acquirer),
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
      '/v1/charges/:',
      (reference) => ({ GET: { call: 'lookup', read: () => () => charges.lookup(reference) } }),
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

function refundRoutes({ refunds }: Acquirer): RouteEntry[] {
  return [
    [
      '/v1/refunds',
      () => ({
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
      '/v1/charges/:/refunds',
      (charge) => ({ GET: { call: 'lookup', read: () => () => refunds.list(charge) } }),
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

function switches({ setChargeOutcome, charges, refunds }: Acquirer): RouteEntry[] {
  return [
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
            return () => refunds.refundAtDesk(name, amount_minor);
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
