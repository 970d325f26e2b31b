import { LRUCache } from 'lru-cache';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { FindRequest, PaymentProvider } from '../payment-provider.js';
import {
  confirmBody,
  pageBody,
  readCharge,
  readConfirmation,
  readPage,
  readSetup,
  readSetupPage,
  setupBody,
} from './charge-calls.js';
import { transactionId } from './charge-wire.js';
import type { PaystackBanks } from './banks.js';
import {
  createPaystackClient,
  otherEnvironment,
  unreadable,
  type PaystackClient,
} from './client.js';
import { at, pageOf, PAGE_SIZE, query, refundList } from './lists.js';
import { SAFE_FIELDS } from './messages.js';
import { createPaymentReader } from './payment-events.js';
import { createSharedRefundLists } from './refund-lists.js';
import { faultOf, NOT_ASKED } from '../port.js';
import { rateOf, sharedRate } from './rates.js';
import { chargeReferences } from './references.js';
import {
  readDisputeList,
  readDisputes,
  readRefund,
  readRefundList,
  readRefunds,
  readResumed,
  refundBody,
} from './refund-calls.js';

const { toTheirs } = chargeReferences;
const REMEMBERED_TRANSACTIONS = 10_000;
/** Two requests with one reference are never processed at once, also if we gave up waiting for the first. */
const PAUSE_MS = 60_000;

const unsent = { kind: 'throttled', retryAfterMs: 1_000 } as const;
const invalidAccount = { kind: 'rejected', code: 'invalid_account', scope: 'request' } as const;

/** Creates Paystack's adapter of the payment port. */
export function createPaystackPayments(
  settings: PaystackSettings,
  banks: Pick<PaystackBanks, 'find'>,
): PaymentProvider {
  const client = createPaystackClient(settings);
  return {
    name: 'paystack',
    payments: traitsOf(settings),
    async openPage(order, signal) {
      const path = '/transaction/initialize';
      const request = { call: 'openPage', method: 'POST', path, body: pageBody(order) } as const;
      return client.submit(request, signal, (found) => readPage(found, order, settings));
    },
    async confirmCharge(order, signal) {
      const path = '/transaction/charge_authorization';
      const request = { call: 'confirm', method: 'POST', path, body: confirmBody(order) } as const;
      return client.submit(request, signal, (found) => readConfirmation(found, order, settings));
    },
    async verifyCharge(about, signal) {
      const path = at('/transaction/verify', toTheirs(about.reference));
      const request = { call: 'verifyCharge', method: 'GET', path } as const;
      return client.verify(request, signal, (found) => readCharge(found, about, settings));
    },
    async setUp(order, signal) {
      // A card is saved by a paid page only.
      if (order.channel.type === 'card') {
        const code = 'setup_not_supported';
        return { kind: 'rejected', code, scope: 'instruction', providerRequestId: null };
      }
      const { account, bankCode } = order.channel;
      const bank = await banks.find(bankCode, signal);
      if (bank === null) return { ...invalidAccount, providerRequestId: null };
      // Nothing was sent, so no page is lost.
      if ('kind' in bank) {
        return { ...unsent, providerRequestId: bank.providerRequestId, ...faultOf(bank) };
      }
      const path = '/customer/authorization/initialize';
      const body = setupBody(order, { account, bankCode: bank.code });
      const request = { call: 'setUp', method: 'POST', path, body } as const;
      return client.submit(request, signal, (found) => readSetupPage(found, settings));
    },
    async verifySetup({ handle }, signal) {
      // Without the handle the answer with the page was lost, and nobody can have used it.
      if (handle === null) return { kind: 'not_found', providerRequestId: null };
      const path = at('/customer/authorization/verify', handle);
      const request = { call: 'verifySetup', method: 'GET', path } as const;
      return client.verify(request, signal, (found) => readSetup(found, settings));
    },
    ...createRefunds(client, banks, settings),
    async revokeMethod({ code }, signal) {
      const path = '/customer/authorization/deactivate';
      const body = { authorization_code: code };
      const request = { call: 'revoke', method: 'POST', path, body } as const;
      return client.remove(request, signal, () => ({ kind: 'revoked' as const }));
    },
    ...createPaymentReader(settings),
    safeFields: SAFE_FIELDS,
  };
}

/** Refunds and disputes, which Paystack lists by the number of a transaction. */
function createRefunds(
  client: PaystackClient,
  banks: Pick<PaystackBanks, 'find'>,
  { domain }: Pick<PaystackSettings, 'domain'>,
): Pick<
  PaymentProvider,
  'refund' | 'resumeRefund' | 'findRefunds' | 'findDisputes' | 'listDisputes'
> {
  const transactionOf = createTransactionNumbers(client, domain);
  const sharedList = createSharedRefundLists(client);
  return {
    async refund(order, signal) {
      const body = refundBody(order);
      const request = { call: 'refund', method: 'POST', path: '/refund', body } as const;
      return client.submit(request, signal, (found) => readRefund(found, order, domain));
    },
    async resumeRefund({ id, account }, signal) {
      const bank = await banks.find(account.bankCode, signal);
      if (bank !== null && 'kind' in bank) return bank;
      if (!bank?.id) return { ...invalidAccount, providerRequestId: null };
      const path = at('/refund/retry_with_customer_details', id);
      const details = { currency: 'NGN', account_number: account.account, bank_id: bank.id };
      const body = { refund_account_details: details };
      const request = { call: 'resumeRefund', method: 'POST', path, body } as const;
      return client.submit(request, signal, (found) => readResumed(found, id, domain));
    },
    async findRefunds(question, signal) {
      const transaction = await transactionOf(question, signal);
      if (typeof transaction !== 'string') return transaction;
      const { reference, since, cursor, newEnough, ...bound } = question;
      const page = pageOf(cursor);
      const wanted = { reference, transaction, domain };
      if (newEnough) {
        const list = await sharedList({ since, newEnough, ...bound }, signal);
        return list.kind === 'all' ? readRefundList(list, wanted) : list;
      }
      return client.verify(refundList(since, page), signal, (found) =>
        readRefunds(found, wanted, page),
      );
    },
    async findDisputes(question, signal) {
      const transaction = await transactionOf(question, signal);
      if (typeof transaction !== 'string') return transaction;
      const { reference, cursor } = question;
      const page = pageOf(cursor);
      const path = `/dispute?${query({ transaction, perPage: PAGE_SIZE, page })}`;
      const request = { call: 'findDisputes', method: 'GET', path } as const;
      const wanted = { reference, transaction, domain };
      return client.verify(request, signal, (found) => readDisputes(found, wanted, page));
    },
    async listDisputes({ from, to, cursor }, signal) {
      const page = pageOf(cursor);
      const window = { from: from.toISOString(), to: to.toISOString() };
      const path = `/dispute?${query({ ...window, perPage: PAGE_SIZE, page })}`;
      const request = { call: 'findDisputes', method: 'GET', path } as const;
      return client.verify(request, signal, (found) => readDisputeList(found, page, domain));
    },
  };
}

/** Looks up the number of a charge's transaction, by which Paystack's lists name it, and remembers it. */
function createTransactionNumbers(client: PaystackClient, domain: string) {
  const known = new LRUCache<string, string>({ max: REMEMBERED_TRANSACTIONS });
  return async (
    { reference, mayGoOn }: Pick<FindRequest, 'reference' | 'mayGoOn'>,
    signal: AbortSignal,
  ) => {
    const remembered = known.get(reference);
    if (remembered !== undefined) return remembered;
    if (mayGoOn && !(await mayGoOn())) return NOT_ASKED;
    const path = at('/transaction/verify', toTheirs(reference));
    const request = { call: 'verifyCharge', method: 'GET', path } as const;
    const answer = await client.verify(request, signal, ({ data }) => {
      const parsed = transactionId.safeParse(data);
      if (!parsed.success) return unreadable();
      const { id } = parsed.data;
      return otherEnvironment(parsed.data.domain, domain) ?? ({ kind: 'number', id } as const);
    });
    if (answer.kind !== 'number') return answer;
    known.set(reference, answer.id);
    return answer.id;
  };
}

function traitsOf(settings: PaystackSettings): PaymentProvider['payments'] {
  const rate = (bucket: Parameters<typeof rateOf>[0]) => rateOf(bucket, settings);
  return {
    currencies: ['NGN'],
    references: chargeReferences,
    rates: {
      page: rate('initialize'),
      prepare: rate('shared'),
      confirm: rate('charge_authorization'),
      verify: rate('verify_transaction'),
      cancel: rate('shared'),
      setup: rate('shared'),
      refund: rate('shared'),
      find: rate('shared'),
      revoke: rate('shared'),
    },
    bucket: sharedRate(settings).bucket,
    charges: { kind: 'idempotent', forMs: null, pauseMs: PAUSE_MS },
    refunds: { kind: 'never' },
    pages: 'new_reference',
    // It has one word for a refund that was not made, and for one that was and came back.
    lateRefusals: 'returned',
  };
}
