import {
  readClosed,
  readSlug,
  readSlugOf,
} from '../../src/core/providers/paystack/account-calls.js';
import { createPaystackBanks } from '../../src/core/providers/paystack/banks.js';
import type { Data, PaystackClient } from '../../src/core/providers/paystack/client.js';
import { customerIn } from '../../src/core/providers/paystack/customers.js';
import { readLedger } from '../../src/core/providers/paystack/ledger.js';
import { readTransfers } from '../../src/core/providers/paystack/transfer-calls.js';
import { ACCOUNTS } from './golden/accounts.js';
import {
  ACCOUNT_BANKS,
  BANK_ID,
  BANKS,
  CLOSINGS,
  CUSTOMER,
  CUSTOMERS,
  HANDLE,
  LEDGER,
  LEDGER_THINGS,
  SLUGS,
  TRANSFER_LISTS,
  type Rows,
} from './golden/lists.js';
import { never } from './support.js';

const meta = { page: 1, pageCount: '1', perPage: '100' };

/** As the wire has it: what JSON drops is dropped. */
const sent = (data: unknown): Data => ({ data: JSON.parse(JSON.stringify(data)) as unknown, meta });

/** A client whose questions have this data as their answers. A path without data is not found. */
const answering = (dataOf: (path: string) => unknown) =>
  ({
    verify: (
      { path }: { path: string },
      _signal: AbortSignal,
      read: (found: Data) => object,
    ): Promise<object> => {
      const data = dataOf(path.split('?')[0] ?? '');
      const answer = data === undefined ? { kind: 'not_found' } : read(sent(data));
      return Promise.resolve({ providerRequestId: null, ...answer });
    },
  }) as unknown as PaystackClient;

const window = {
  from: new Date('2026-11-20T00:00:00.000Z'),
  to: new Date('2026-11-21T00:00:00.000Z'),
  cursor: null,
  takeTurn: () => Promise.resolve(),
};
const settings = { domain: 'test', customerDomain: CUSTOMER.domain } as const;
const banksIn = (data: unknown) => createPaystackBanks(answering(() => data)).list(never);
const ledgerIn = (data: unknown) => {
  const things = { ...LEDGER_THINGS, '/balance/ledger': data };
  const client = answering((path) => things[path as keyof typeof things]);
  return readLedger(client, window, 'test', never);
};

describe.each<[string, Rows, (data: unknown) => unknown]>([
  ['list of transfers', TRANSFER_LISTS, (data) => readTransfers(sent(data), 1, 'test')],
  ['customer', CUSTOMERS, (data) => customerIn(sent(data), CUSTOMER.ours, settings)],
  ['closing of an account', CLOSINGS, (data) => readClosed(sent(data), HANDLE, ACCOUNTS.ours)],
  ['bank of an account', SLUGS, (data) => readSlug(sent(data), HANDLE)],
  ['banks that have accounts', ACCOUNT_BANKS, (data) => readSlugOf(sent(data), BANK_ID)],
  ['list of banks', BANKS, banksIn],
  ['ledger of the balance', LEDGER, ledgerIn],
])('answers of the call: %s', (_call, rows, read) => {
  test.each(rows)('%s (%s)', async (_what, _source, data, expected) => {
    const {
      providerRequestId: _,
      at: __,
      ...answer
    } = (await read(data)) as Record<string, unknown>;
    expect(answer).toEqual(expected);
  });
});
