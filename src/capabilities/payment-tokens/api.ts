import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { pageQuery } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { customerParams } from '../customers/index.js';
import {
  tokenResource,
  cardTokenBody,
  bankAccountTokenBody,
  exampleToken,
  tokenSetupBody,
} from './schema.js';

const tag = 'Payments';
const customer = { id: 'customer-77', email: 'ada@example.com', name: 'Ada Obi' };
const { brand: _brand, last4: _last4, ...plainToken } = exampleToken;
const unbound = { ...plainToken, status: 'unbound' as const };
const exampleSetup = {
  status: 'pending' as const,
  next_action: null,
  failure: null,
  expires_at: '2026-11-22T09:30:00.000Z',
};

/** Creates a payment token for a card. */
export const createCardToken = operation({
  id: 'createCardToken',
  tag,
  method: 'post',
  path: '/payments/tokens/card',
  summary: 'Create a card token',
  description:
    'The token has no card data: a setup charge with this token sends the customer to the provider’s page, which ' +
    'takes the card. A body with a card number or a security code is refused.',
  access: 'public_key',
  body: cardTokenBody,
  idempotent: true,
  answer: { status: 201, data: tokenResource },
  examples: { body: { customer }, data: unbound },
});

/** Creates a payment token for a bank account. */
export const createBankAccountToken = operation({
  id: 'createBankAccountToken',
  tag,
  method: 'post',
  path: '/payments/tokens/bank-account',
  summary: 'Create a bank account token',
  description: 'In a setup charge, the customer authorizes later charges on the provider’s page.',
  access: 'public_key',
  body: bankAccountTokenBody,
  idempotent: true,
  answer: { status: 201, data: tokenResource },
  examples: {
    body: { customer, account_number: '0123456789', bank_code: '058' },
    data: { ...unbound, type: 'bank_account', last4: '6789', bank_code: '058' },
  },
});

/** Lists a customer's payment tokens. */
export const listCustomerTokens = operation({
  id: 'listCustomerTokens',
  tag,
  method: 'get',
  path: '/payments/customers/{customer_id}/tokens',
  summary: 'List a customer’s payment tokens, newest first',
  params: customerParams,
  query: z.strictObject(pageQuery()),
  answer: { status: 200, data: tokenResource, list: true },
});

/** `GET /payments/tokens/{id}`. */
export const getToken = operation({
  id: 'getToken',
  tag,
  method: 'get',
  path: '/payments/tokens/{id}',
  summary: 'Get a payment token',
  params: { id: idSchema('paymentToken') },
  answer: { status: 200, data: tokenResource },
});

/** Sets a payment token up without a payment. */
export const setUpToken = operation({
  id: 'setUpToken',
  tag,
  method: 'post',
  path: '/payments/tokens/{id}/setup',
  summary: 'Set up a payment token without a payment',
  description:
    'Opens a page of the provider on which the customer saves a payment method, and no money moves. `setup.next_action.url` ' +
    'is the page, in the answer with `Prefer: wait`, otherwise in `GET /payments/tokens/{id}`. Once a method is saved, the ' +
    'token is `active`. While a set-up is open, it is answered as it is. A provider that saves this kind of method with a ' +
    'payment only fails the set-up (`setup_not_supported`): use a setup charge.',
  params: { id: idSchema('paymentToken') },
  body: tokenSetupBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: tokenResource },
  refusals: ['invalid_state'],
  examples: {
    body: { return_url: 'https://shop.example/saved' },
    data: { ...unbound, setup: exampleSetup },
  },
});

/** Deletes a payment token. */
export const deleteToken = operation({
  id: 'deleteToken',
  tag,
  method: 'delete',
  path: '/payments/tokens/{id}',
  summary: 'Delete a payment token',
  description:
    'Revokes the token for good, here at once and then at its provider. No charge of it is accepted any more, a planned ' +
    'retry of an earlier charge fails with `token_revoked`, and recurring charges of it become `past_due`. If it is ' +
    'revoked already, nothing changes.',
  params: { id: idSchema('paymentToken') },
  onlyProtects: true,
  idempotent: true,
  answer: { status: 200, data: tokenResource },
  examples: { data: { ...plainToken, status: 'revoked' } },
});

/** The operations on payment tokens. */
export const tokenOperations = {
  createCardToken,
  createBankAccountToken,
  getToken,
  setUpToken,
  deleteToken,
  listCustomerTokens,
};
