import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { idempotencyKey, pageQuery, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { metadata } from '../../shared/metadata.js';
import { ALWAYS, refuseCardData } from './schema.js';
import { customerBody, customerId } from './schema.js';

const exampleToken = {
  payment_token_id: 'tok_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-77',
  type: 'card' as const,
  status: 'active' as const,
  brand: 'visa',
  last4: '4081',
  created_at: '2026-11-21T09:30:00.000Z',
};

/** A payment token, as tenants get it. */
export const tokenResource = z
  .object({
    payment_token_id: idSchema('paymentToken'),
    customer_id: z.string(),
    type: z.enum(['card', 'bank_account']),
    status: z.enum(['unbound', 'active', 'revoked']).meta({
      description:
        '`unbound` until a setup charge with this token is paid; then `active`: it can be charged without the ' +
        'customer.',
    }),
    brand: z.string().optional(),
    last4: z.string().optional(),
    bank_code: z.string().optional(),
    created_at: timestamp('When the token was created.'),
  })
  .meta({ id: 'PaymentToken', example: exampleToken });

const common = {
  customer: customerBody,
  metadata: metadata.optional(),
  idempotency_key: idempotencyKey.optional(),
};

/** The body of a request for a card's token. */
export const cardTokenBody = z
  .strictObject(common)
  .superRefine(refuseCardData, ALWAYS)
  .meta({ id: 'NewCardToken' });

/** The body of a request for a bank account's token. */
export const bankAccountTokenBody = z
  .strictObject({
    ...common,
    account_number: z
      .string()
      .regex(/^[0-9]{10}$/, 'must be 10 digits')
      .meta({ description: 'NUBAN account number.', example: '0123456789' }),
    bank_code: z
      .string()
      .regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits')
      .meta({ description: 'CBN or NIP code, see `GET /transfers/banks`.', example: '058' }),
  })
  .superRefine(refuseCardData, ALWAYS)
  .meta({ id: 'NewBankAccountToken' });

const tag = 'Payments';
const customer = { id: 'customer-77', email: 'ada@example.com', name: 'Ada Obi' };
const { brand: _brand, last4: _last4, ...plainToken } = exampleToken;
const unbound = { ...plainToken, status: 'unbound' as const };

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
  params: { customer_id: customerId },
  query: z.strictObject(pageQuery()),
  answer: { status: 200, data: tokenResource, list: true },
});

/** The operations on payment tokens. */
export const tokenOperations = { createCardToken, createBankAccountToken, listCustomerTokens };
