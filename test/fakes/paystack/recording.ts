import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/shared/ids.js';
import { chargeReferences } from '../../../src/core/providers/paystack/references.js';

/** One call in a transcript. Values are replaced by their types, except for words that are no data of anybody. */
export type RecordedCall = {
  call: string;
  method: string;
  path: string;
  status: number;
  body: unknown;
};

/** A difference between the answer of Paystack and that of the fake. */
export type Difference = { call: string; field: string; paystack: string; fake: string };

type Target = { url: string; key: string };
type Sent = { call: string; method: 'GET' | 'POST' | 'DELETE'; path: string; body?: object };

const EMAIL = 'recording@example.com';
/** Paystack's test bank account. */
const ACCOUNT = { account_number: '0000000000', bank_code: '057' };

/** Fields whose words are kept: statuses, codes and the like. */
const KEPT = new Set([
  'status',
  'domain',
  'currency',
  'type',
  'code',
  'channel',
  'source',
  'message',
  'country',
]);

/**
 * Makes each call once, in test mode: what needs a payment of a customer is left out. It creates a recipient, a transfer,
 * an unpaid transaction, a customer and a closed account at Paystack.
 */
export async function record(target: Target): Promise<RecordedCall[]> {
  const calls: RecordedCall[] = [];
  const make = async ({ call, method, path, body }: Sent): Promise<unknown> => {
    const response = await fetch(`${target.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${target.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const answer: unknown = await response.json().catch(() => null);
    const [bare = ''] = path.split('?');
    calls.push({ call, method, path: maskPath(bare), status: response.status, body: mask(answer) });
    return answer;
  };
  for (const each of readings()) await make(each);
  await recordTransfer(make);
  await recordTransaction(make);
  await recordAccount(make);
  return calls;
}

type Make = (sent: Sent) => Promise<unknown>;

const readings = (): Sent[] => {
  const get = (call: string, path: string): Sent => ({ call, method: 'GET', path });
  const nobody = randomUUID();
  return [
    get(
      'banks',
      '/bank?country=nigeria&currency=NGN&include_nip_sort_code=true&use_cursor=true&perPage=5',
    ),
    get(
      'resolve',
      `/bank/resolve?account_number=${ACCOUNT.account_number}&bank_code=${ACCOUNT.bank_code}`,
    ),
    get('balance', '/balance'),
    get('transfer that is not there', `/transfer/verify/${nobody}`),
    get('transaction that is not there', `/transaction/verify/${nobody}`),
    get('list of transfers', '/transfer?per_page=1&page=1'),
    get('list of refunds', '/refund?perPage=1&page=1'),
    get('list of paid transactions', '/transaction?status=success&per_page=1&page=1'),
    get('customer that is not there', `/customer/${newId('virtualAccount')}@example.com`),
    get('account that is not there', '/dedicated_account/1'),
    get('banks of accounts', '/dedicated_account/available_providers'),
    get('list of disputes', '/dispute?perPage=1&page=1'),
    get('ledger of the balance', '/balance/ledger?perPage=1&page=1'),
    get('transfer of a ledger that is not there', '/transfer/1'),
    get('transaction of a ledger that is not there', '/transaction/1'),
    get('refund of a ledger that is not there', '/refund/1'),
    get('mandate that is not there', `/customer/authorization/verify/${nobody}`),
  ];
};

async function recordTransfer(make: Make): Promise<void> {
  const recipient = await make({
    call: 'recipient',
    method: 'POST',
    path: '/transferrecipient',
    body: { type: 'nuban', name: 'Recording', currency: 'NGN', ...ACCOUNT },
  });
  const reference = newId('transfer');
  const body = {
    source: 'balance',
    amount: 10_000,
    currency: 'NGN',
    recipient: textAt(recipient, 'recipient_code'),
    reference,
    reason: 'Recording',
  };
  await make({ call: 'transfer', method: 'POST', path: '/transfer', body });
  await make({ call: 'transfer again', method: 'POST', path: '/transfer', body });
  await make({ call: 'verify transfer', method: 'GET', path: `/transfer/verify/${reference}` });
}

async function recordTransaction(make: Make): Promise<void> {
  const reference = chargeReferences.toTheirs(`${newId('charge')}-1`);
  const body = {
    email: EMAIL,
    amount: 10_000,
    currency: 'NGN',
    reference,
    channels: ['card'],
    metadata: {},
  };
  await make({ call: 'page', method: 'POST', path: '/transaction/initialize', body });
  await make({ call: 'page again', method: 'POST', path: '/transaction/initialize', body });
  await make({
    call: 'verify transaction',
    method: 'GET',
    path: `/transaction/verify/${reference}`,
  });
  await make({
    call: 'saved method that is not there',
    method: 'POST',
    path: '/transaction/charge_authorization',
    body: {
      email: EMAIL,
      amount: 10_000,
      currency: 'NGN',
      authorization_code: 'AUTH_0000000000',
      reference: chargeReferences.toTheirs(`${newId('charge')}-1`),
      metadata: '{}',
    },
  });
  await make({
    call: 'revoke a method that is not there',
    method: 'POST',
    path: '/customer/authorization/deactivate',
    body: { authorization_code: 'AUTH_0000000000' },
  });
  await make({
    call: 'mandate',
    method: 'POST',
    path: '/customer/authorization/initialize',
    body: {
      email: EMAIL,
      channel: 'direct_debit',
      account: { number: ACCOUNT.account_number, bank_code: ACCOUNT.bank_code },
    },
  });
  await recordRefunds(make);
}

async function recordRefunds(make: Make): Promise<void> {
  const { account_number } = ACCOUNT;
  await make({
    call: 'account of a refund that is not there',
    method: 'POST',
    path: '/refund/retry_with_customer_details/1',
    body: { refund_account_details: { currency: 'NGN', account_number, bank_id: '21' } },
  });
  await make({
    call: 'refund of a transaction that is not there',
    method: 'POST',
    path: '/refund',
    body: {
      transaction: randomUUID(),
      amount: 100,
      currency: 'NGN',
      merchant_note: newId('refund'),
    },
  });
}

/** An account of a new customer, which is closed again, and a validation that Paystack refuses. */
async function recordAccount(make: Make): Promise<void> {
  const email = `${newId('virtualAccount')}@example.com`;
  const names = { first_name: 'Recording', last_name: 'Recording' };
  const customer = await make({
    call: 'customer',
    method: 'POST',
    path: '/customer',
    body: { email, ...names, phone: '+2348012345678' },
  });
  const code = textAt(customer, 'customer_code');
  await make({ call: 'customer again', method: 'GET', path: `/customer/${email}` });
  const account = await make({
    call: 'virtual account',
    method: 'POST',
    path: '/dedicated_account',
    body: { customer: code },
  });
  const of = `?customer=${numberAt(customer, 'id')}`;
  await make({ call: 'accounts of a customer', method: 'GET', path: `/dedicated_account${of}` });
  const requery = `?account_number=${ACCOUNT.account_number}&provider_slug=test-bank&date=2026-01-01`;
  await make({
    call: 'requery of an account that is not there',
    method: 'GET',
    path: `/dedicated_account/requery${requery}`,
  });
  const path = `/dedicated_account/${numberAt(account, 'id')}`;
  await make({ call: 'look-up of an account', method: 'GET', path });
  await make({ call: 'closing of an account', method: 'DELETE', path });
  await make({
    call: 'validation of a customer',
    method: 'POST',
    path: `/customer/${code}/identification`,
    body: { country: 'NG', type: 'bank_account', bvn: '00000000000', ...names, ...ACCOUNT },
  });
}

const numberAt = (answer: unknown, name: string): number =>
  Number((answer as { data?: Record<string, unknown> } | null)?.data?.[name] ?? 0);

function textAt(answer: unknown, name: string): string {
  const data = (answer as { data?: Record<string, unknown> } | null)?.data;
  const value = data?.[name];
  return typeof value === 'string' ? value : '';
}

const maskPath = (path: string): string =>
  path
    .replace(/(verify\/)[^/]+/, '$1{reference}')
    .replace(/^(\/customer\/)(?!authorization\/)[^/]+/, '$1{customer}')
    .replace(/^(\/(?:transfer|transaction|refund)\/|.*_details\/)[0-9]+$/, '$1{id}')
    .replace(/^(\/dedicated_account\/)[0-9]+/, '$1{id}');

/** The structure of an answer, without its data. */
function mask(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((each) => mask(each));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mask(each, key)]));
  }
  if (value === null || typeof value === 'boolean') return value;
  const isWord = typeof value === 'string' && KEPT.has(name) && !/[0-9]{4}/.test(value);
  return isWord ? value : `<${typeof value}>`;
}

/**
 * Compares two transcripts field by field: a field that only one of them has, or that has another type. The fake is right
 * if Paystack has every field that it has, with the same type.
 */
export function compare(
  paystack: readonly RecordedCall[],
  fake: readonly RecordedCall[],
): Difference[] {
  return fake.flatMap((ours) => {
    const theirs = paystack.find(({ call }) => call === ours.call);
    const { call } = ours;
    if (!theirs) return [{ call, field: '', paystack: 'not called', fake: 'called' }];
    const status =
      ours.status === theirs.status
        ? []
        : [
            {
              call,
              field: 'HTTP status',
              paystack: String(theirs.status),
              fake: String(ours.status),
            },
          ];
    const [found, expected] = [typesOf(theirs.body), typesOf(ours.body)];
    const names = [...new Set([...found.keys(), ...expected.keys()])];
    return [
      ...status,
      ...names.flatMap((field) => {
        const [a = 'missing', b = 'missing'] = [found.get(field), expected.get(field)];
        return a === b ? [] : [{ call, field, paystack: a, fake: b }];
      }),
    ];
  });
}

/** The type of each field, by its path. */
function typesOf(value: unknown, path = ''): Map<string, string> {
  if (Array.isArray(value)) {
    return new Map([[path, 'array'], ...value.flatMap((each) => [...typesOf(each, `${path}[]`)])]);
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).flatMap(([name, each]) => [
      ...typesOf(each, `${path}.${name}`),
    ]);
    return new Map([[path, 'object'], ...fields]);
  }
  if (typeof value === 'string')
    return new Map([[path, value === '<number>' ? 'number' : 'string']]);
  return new Map([[path, value === null ? 'null' : typeof value]]);
}
