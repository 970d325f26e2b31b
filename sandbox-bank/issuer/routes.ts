import type { Authorizations } from './authorizations.js';
import {
  authorizationBody,
  cardBody,
  disputeBody,
  disputeOutcomeBody,
  endBody,
  fundingBody,
  issuerChangeBody,
  stateBody,
  setFundingOutcomeBody,
} from './wire.js';
import type { Disputes } from './disputes.js';
import type { Fundings } from './fundings.js';
import { readBody } from '../shared/http.js';
import type { Issuer } from './issuer.js';
import type { RouteEntry } from '../shared/route.js';

/** The issuer's routes: cards, fundings, disputes, and the controls for tests. */
export function cardRoutes({ cards, fundings, authorizations, disputes }: Issuer): RouteEntry[] {
  return [
    [
      '/v1/cards',
      () => ({
        POST: {
          call: 'issue',
          read: async (req) => {
            const order = await readBody(req, cardBody);
            return () => cards.issue(order);
          },
        },
      }),
    ],
    [
      '/v1/cards/by-reference/:',
      (reference) => ({ GET: { call: 'lookup', read: () => () => cards.lookup(reference) } }),
    ],
    ['/v1/cards/:', (id) => ({ GET: { call: 'lookup', read: () => () => cards.show(id) } })],
    [
      '/v1/cards/:/state',
      (id) => ({
        PUT: {
          call: 'set_state',
          read: async (req) => {
            const order = await readBody(req, stateBody);
            return () => cards.setState(id, order);
          },
        },
      }),
    ],
    [
      '/_sandbox/cards/:',
      (name) => ({
        POST: {
          call: null,
          read: async (req) => {
            const { status } = await readBody(req, issuerChangeBody);
            return () => cards.change(name, status);
          },
        },
      }),
    ],
    ...fundingRoutes(fundings),
    ...authorizationRoutes(authorizations),
    ...disputeRoutes(disputes),
  ];
}

function fundingRoutes(fundings: Fundings): RouteEntry[] {
  return [
    [
      '/v1/fundings',
      () => ({
        POST: {
          call: 'fund',
          read: async (req) => {
            const order = await readBody(req, fundingBody);
            return () => fundings.fund({ direction: 'to_card', ...order });
          },
        },
      }),
    ],
    [
      '/v1/fundings/:',
      (reference) => ({
        GET: { call: 'lookup', read: () => () => fundings.lookup(reference, 'to_card') },
      }),
    ],
    [
      '/v1/unloads',
      () => ({
        POST: {
          call: 'unload',
          read: async (req) => {
            const order = await readBody(req, fundingBody);
            return () => fundings.fund({ direction: 'from_card', ...order });
          },
        },
      }),
    ],
    [
      '/v1/unloads/:',
      (reference) => ({
        GET: { call: 'lookup', read: () => () => fundings.lookup(reference, 'from_card') },
      }),
    ],
    [
      '/v1/fundings/:/reverse',
      (reference) => ({ POST: { call: 'reverse', read: () => () => fundings.reverse(reference) } }),
    ],
    [
      '/_sandbox/fundings/:',
      (reference) => ({
        POST: {
          call: null,
          read: async (req) => {
            const setting = await readBody(req, setFundingOutcomeBody);
            return () => fundings.setOutcome(reference, setting);
          },
        },
      }),
    ],
  ];
}

function authorizationRoutes(authorizations: Authorizations): RouteEntry[] {
  return [
    [
      '/_sandbox/authorizations',
      () => ({
        POST: {
          call: null,
          read: async (req) => {
            const order = await readBody(req, authorizationBody);
            return () => authorizations.authorize(order);
          },
        },
      }),
    ],
    [
      '/v1/authorizations/:',
      (token) => ({
        GET: { call: 'find_authorization', read: () => () => authorizations.find(token) },
      }),
    ],
    [
      '/_sandbox/authorizations/:',
      (token) => ({
        POST: {
          call: null,
          read: async (req) => {
            const order = await readBody(req, endBody);
            return () => authorizations.end(token, order);
          },
        },
      }),
    ],
  ];
}

function disputeRoutes(disputes: Disputes): RouteEntry[] {
  return [
    [
      '/v1/disputes',
      () => ({
        POST: {
          call: 'dispute',
          read: async (req) => {
            const order = await readBody(req, disputeBody);
            return () => disputes.submit(order);
          },
        },
      }),
    ],
    [
      '/v1/disputes/:',
      (reference) => ({ GET: { call: 'lookup', read: () => () => disputes.lookup(reference) } }),
    ],
    [
      '/v1/disputes/:/withdraw',
      (reference) => ({
        POST: { call: 'withdraw_dispute', read: () => () => disputes.withdraw(reference) },
      }),
    ],
    [
      '/_sandbox/card-disputes/:',
      (reference) => ({
        POST: {
          call: null,
          read: async (req) => {
            const setting = await readBody(req, disputeOutcomeBody);
            return () => disputes.set(reference, setting);
          },
        },
      }),
    ],
  ];
}
