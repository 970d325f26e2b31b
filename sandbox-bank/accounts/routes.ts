import { readBody, validate } from '../shared/http.js';
import type { RouteEntry } from '../shared/route.js';
import type { Accounts } from './accounts.js';
import {
  accountBody,
  closeBody,
  depositBody,
  depositsQuery,
  requeryBody,
  returnBody,
  setAccountBody,
} from './wire.js';

/** The routes of virtual accounts and deposits, and their controls for tests. */
export const accountRoutes = (accounts: Accounts): RouteEntry[] => [
  [
    '/v1/virtual-accounts',
    () => ({
      POST: {
        call: 'assign',
        read: async (req) => {
          const order = await readBody(req, accountBody);
          return () => accounts.assign(order);
        },
      },
    }),
  ],
  [
    '/v1/virtual-accounts/by-reference/:',
    (reference) => ({ GET: { call: 'lookup', read: () => () => accounts.lookup(reference) } }),
  ],
  [
    '/v1/virtual-accounts/:/close',
    (reference) => ({
      POST: {
        call: 'close',
        read: async (req) => {
          await readBody(req, closeBody);
          return () => accounts.close(reference);
        },
      },
    }),
  ],
  [
    '/_sandbox/virtual-accounts/:',
    (name) => ({
      POST: {
        call: null,
        read: async (req) => {
          const { outcome } = await readBody(req, setAccountBody);
          return () => accounts.setOutcome(name, outcome);
        },
      },
    }),
  ],
  ...depositRoutes(accounts.deposits),
];

const depositRoutes = (deposits: Accounts['deposits']): RouteEntry[] => [
  [
    '/v1/virtual-accounts/:/requery',
    (accountNumber) => ({
      POST: {
        call: 'requery',
        read: async (req) => {
          await readBody(req, requeryBody);
          return () => deposits.requery(accountNumber);
        },
      },
    }),
  ],
  [
    '/v1/deposits',
    () => ({
      GET: {
        call: 'list',
        read: (_req, query) => {
          const wanted = validate(Object.fromEntries(query), depositsQuery);
          return () => deposits.list(wanted);
        },
      },
    }),
  ],
  ['/v1/deposits/:', (id) => ({ GET: { call: 'deposit', read: () => () => deposits.show(id) } })],
  [
    '/v1/deposits/:/returns',
    (id) => ({
      GET: {
        call: 'lookup',
        read: (_req, query) => () => deposits.returns.find(id, query.get('marker') ?? ''),
      },
      POST: {
        call: 'return',
        read: async (req) => {
          const order = await readBody(req, returnBody);
          return () => deposits.returns.send(id, order);
        },
      },
    }),
  ],
  [
    '/_sandbox/virtual-accounts/:/deposits',
    (accountNumber) => ({
      POST: {
        call: null,
        read: async (req) => {
          const order = await readBody(req, depositBody);
          return () => deposits.receive(accountNumber, order);
        },
      },
    }),
  ],
  [
    '/_sandbox/deposits/:/reversal',
    (id) => ({ POST: { call: null, read: () => () => deposits.setReversed(id) } }),
  ],
];
