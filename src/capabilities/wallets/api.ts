import { operation } from '../../platform/http/operation.js';
import { balanceResource, entryResource, listEntriesQuery } from './schema.js';

const tag = 'Balance';

/** Shows the balance of the tenant's wallet. */
export const getBalance = operation({
  id: 'getBalance',
  tag,
  method: 'get',
  path: '/balance',
  summary: 'Get your balance',
  description:
    'The balance of your wallet: the available amount, the held amount, and the amount that you owe.',
  answer: { status: 200, data: balanceResource },
});

/** Lists the entries of the tenant's statement. */
export const listBalanceEntries = operation({
  id: 'listBalanceEntries',
  tag,
  method: 'get',
  path: '/balance/entries',
  summary: 'List the entries of your statement',
  description:
    'Every change of the available amount, newest first: a hold, its release, a reversal, a credit, a fee. Their sum over ' +
    'all time is `available_minor` of the balance. Days that were archived are not listed.',
  query: listEntriesQuery,
  answer: { status: 200, data: entryResource, list: true },
});

/** The operations on the balance. */
export const walletOperations = { getBalance, listBalanceEntries };
