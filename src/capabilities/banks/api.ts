import { operation } from '../../platform/http/operation.js';
import {
  bankResource,
  exampleRecipient,
  listBanksQuery,
  recipientResource,
  resolveAccountBody,
} from './schema.js';

const tag = 'Transfers';
const { recipient_account, recipient_bank_code } = exampleRecipient;

/** `POST /transfers/resolve-account`: returns the holder of a bank account. */
export const resolveAccount = operation({
  id: 'resolveAccount',
  tag,
  method: 'post',
  path: '/transfers/resolve-account',
  summary: 'Resolve a bank account',
  description: 'Asks the bank for the name of the account holder. Creates nothing.',
  body: resolveAccountBody,
  idempotent: true,
  safe: true,
  answer: { status: 200, data: recipientResource },
  refusals: ['invalid_account'],
  examples: { body: { recipient_account, recipient_bank_code }, data: exampleRecipient },
});

/** `GET /transfers/banks`: lists the banks that a transfer can go to. */
export const listBanks = operation({
  id: 'listBanks',
  tag,
  method: 'get',
  path: '/transfers/banks',
  summary: 'List banks',
  query: listBanksQuery,
  answer: { status: 200, data: bankResource, list: true },
});

/** The operations of banks, by id. */
export const bankOperations = { resolveAccount, listBanks };
