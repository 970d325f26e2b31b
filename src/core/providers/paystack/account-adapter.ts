import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../../shared/durations.js';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { AccountProvider, AccountRequest } from '../account-provider.js';
import type { NotNow, Throttled, Trace } from '../port.js';
import {
  readAccounts,
  readAssigned,
  readClosed,
  readKnown,
  readSlug,
  readSlugOf,
} from './account-calls.js';
import { createAccountReader } from './account-events.js';
import type { PaystackBanks } from './banks.js';
import { createPaystackClient, withoutAbsence, type Data, type PaystackClient } from './client.js';
import { createPaystackCustomers, namesOf, type CustomerSettings } from './customers.js';
import { readDeposit, readDeposits } from './deposit-wire.js';
import { at, pageOf, PAGE_SIZE, query, refundList } from './lists.js';
import { SAFE_FIELDS } from './messages.js';
import { sharedRate } from './rates.js';
import { readReturn, readReturns, returnBody } from './return-calls.js';

/** Two requests for one account are never processed at once. */
const PAUSE_MS = 60_000;
/**
 * Paystack allows a requery of an account every ten minutes. It asks the account's bank for what Paystack itself does not
 * know, which is rare, so each account has one a day: more would take the shared rate from everything else.
 */
const REQUERY_EVERY_MS = DAY_MS;
const REMEMBERED_BANKS = 10_000;

type Settings = PaystackSettings & CustomerSettings;

/** Creates Paystack's adapter of the port of virtual accounts. */
export function createPaystackAccounts(
  settings: Settings,
  banks: Pick<PaystackBanks, 'find'>,
): AccountProvider {
  const client = createPaystackClient(settings);
  return {
    name: 'paystack',
    accounts: traitsOf(settings),
    ...createAssignment(client, settings, banks),
    requery: createRequery(client),
    ...createDepositCalls(client, settings),
    ...createReturns(client, settings),
    ...createAccountReader(settings),
    safeFields: SAFE_FIELDS,
  };
}

/** The assignment and the closing of accounts. */
function createAssignment(
  client: PaystackClient,
  settings: Settings,
  banks: Pick<PaystackBanks, 'find'>,
): Pick<AccountProvider, 'assign' | 'verifyAccount' | 'close'> {
  const customers = createPaystackCustomers(client, settings);
  const bankFor = createBankChoice(client, settings, banks);
  return {
    async assign(request, signal) {
      const { reference } = request;
      const bank = await bankFor(request, signal);
      if (bank.kind !== 'bank') return withoutAbsence(later(bank));
      if (bank.slug === null && request.bankCode !== null) {
        return { kind: 'rejected', code: 'no_such_bank', providerRequestId: null };
      }
      const customer = await customers.prepare(reference, personOf(request), signal);
      if (customer.kind !== 'customer') return withoutAbsence(later(customer));
      const body = {
        customer: customer.code,
        ...(bank.slug !== null && { preferred_bank: bank.slug }),
      };
      const path = '/dedicated_account';
      const order = { call: 'assignAccount', method: 'POST', path, body } as const;
      const read = (found: Data) => readAssigned(found, reference, settings);
      return later(await client.submit(order, signal, read));
    },
    async verifyAccount({ reference, handle }, signal) {
      if (handle !== null) {
        const path = at('/dedicated_account', handle);
        const request = { call: 'findAccount', method: 'GET', path } as const;
        return client.verify(request, signal, (found) => readKnown(found, handle, reference));
      }
      const customer = await customers.find(reference, signal);
      if (customer.kind !== 'customer') return customer;
      const path = `/dedicated_account?${query({ customer: customer.id })}`;
      const request = { call: 'listAccounts', method: 'GET', path } as const;
      const read = (found: Data) => readAccounts(found, reference, settings);
      return client.verify(request, signal, read);
    },
    async close({ handle, reference }, signal) {
      const path = at('/dedicated_account', handle);
      const request = { call: 'closeAccount', method: 'DELETE', path } as const;
      const read = (found: Data) => readClosed(found, handle, reference);
      return later(await client.remove(request, signal, read));
    },
  };
}

const personOf = ({ holder, accountName }: AccountRequest) => ({
  ...namesOf(holder.name ?? accountName),
  phone: holder.phone,
});

/** Finds Paystack's word for the wished bank; the one of the settings, or its own choice, if none is wished. */
function createBankChoice(
  client: PaystackClient,
  { preferredBank }: Settings,
  banks: Pick<PaystackBanks, 'find'>,
) {
  return async ({ bankCode }: AccountRequest, signal: AbortSignal) => {
    const noCall = { kind: 'bank', providerRequestId: null } as const;
    if (bankCode === null) return { ...noCall, slug: preferredBank };
    const bank = await banks.find(bankCode, signal);
    if (bank !== null && 'kind' in bank) return bank;
    const id = bank?.id ?? null;
    if (id === null) return { ...noCall, slug: null };
    const path = '/dedicated_account/available_providers';
    const request = { call: 'accountBanks', method: 'GET', path } as const;
    return client.verify(request, signal, (found) => readSlugOf(found, id));
  };
}

/** Paystack's word for the bank of an account is a part of the question, and is remembered. */
function createRequery(client: PaystackClient): NonNullable<AccountProvider['requery']> {
  const known = new LRUCache<string, string>({ max: REMEMBERED_BANKS });

  async function slugOf(handle: string, signal: AbortSignal) {
    const slug = known.get(handle);
    if (slug !== undefined) return { kind: 'slug', slug, providerRequestId: null } as const;
    const path = at('/dedicated_account', handle);
    const request = { call: 'findAccount', method: 'GET', path } as const;
    const answer = await client.verify(request, signal, (found) => readSlug(found, handle));
    if (answer.kind === 'slug') known.set(handle, answer.slug);
    return answer;
  }

  return async ({ accountNumber, handle, day }, signal) => {
    const bank = await slugOf(handle, signal);
    if (bank.kind !== 'slug') return bank;
    const fields = { account_number: accountNumber, provider_slug: bank.slug, date: day };
    const path = `/dedicated_account/requery?${query(fields)}`;
    const request = { call: 'requery', method: 'GET', path } as const;
    return client.verify(request, signal, () => ({ kind: 'requested' as const }));
  };
}

/** The questions about deposits. They are Paystack's transactions, and its reference is their id. */
function createDepositCalls(
  client: PaystackClient,
  { domain }: Settings,
): Pick<AccountProvider, 'verifyDeposit' | 'listDeposits'> {
  return {
    async verifyDeposit(id, signal) {
      const path = at('/transaction/verify', id);
      const request = { call: 'verifyCharge', method: 'GET', path } as const;
      return client.verify(request, signal, (found) => readDeposit(found, id, domain));
    },
    async listDeposits({ from, to, cursor }, signal) {
      const page = pageOf(cursor);
      const window = { from: from.toISOString(), to: to.toISOString() };
      const path = `/transaction?${query({ ...window, status: 'success', per_page: PAGE_SIZE, page })}`;
      const request = { call: 'listDeposits', method: 'GET', path } as const;
      const read = (found: Data) => readDeposits(found, page, domain);
      return withoutAbsence(await client.verify(request, signal, read));
    },
  };
}

/** Pages of the list of refunds that one question reads. The next question about the same return goes on from there. */
const PAGES_AT_ONCE = 10;
const REMEMBERED_RETURNS = 10_000;

/** A return has no reference at Paystack, so after silence it is looked for in the list of refunds, and never sent again. */
function createReturns(
  client: PaystackClient,
  { domain }: Settings,
): Pick<AccountProvider, 'returnDeposit' | 'verifyReturn'> {
  // Refunds that are made meanwhile move others to later pages, so the next question passes none over.
  const reached = new LRUCache<string, number>({ max: REMEMBERED_RETURNS });
  return {
    async returnDeposit(order, signal) {
      const body = returnBody(order);
      const request = { call: 'refund', method: 'POST', path: '/refund', body } as const;
      return later(
        await client.submit(request, signal, (found) => readReturn(found, order, domain)),
      );
    },
    async verifyReturn({ marker, orderedAt, since }, signal) {
      const order = `${marker}/${orderedAt.getTime()}`;
      let page = reached.get(order) ?? 1;
      for (let read = 0; read < PAGES_AT_ONCE; read += 1) {
        const answer = await client.verify(refundList(since, page), signal, (found) =>
          readReturns(found, { marker, orderedAt, domain }, page),
        );
        if (answer.kind !== 'page') return withoutAbsence(answer);
        const { next, providerRequestId } = answer;
        if (next === null) {
          reached.delete(order);
          return { kind: 'not_found', providerRequestId };
        }
        page = pageOf(next);
        reached.set(order, page);
      }
      return { kind: 'unknown', reason: 'timeout', providerRequestId: null };
    },
  };
}

/** A request that did nothing, for whatever reason, may be sent again after its pause. */
function later<Answer extends Trace & { kind: string }>(
  answer: Answer,
): Exclude<Answer, Extract<NotNow, { kind: 'rejected_temporarily' }>> | (Trace & Throttled) {
  const refused: { kind: string; afterMs?: number } & Trace = answer;
  if (refused.kind !== 'rejected_temporarily') {
    return answer as Exclude<Answer, Extract<NotNow, { kind: 'rejected_temporarily' }>>;
  }
  const { providerRequestId, fault, afterMs: retryAfterMs = PAUSE_MS } = refused;
  const trace = { providerRequestId, ...(fault !== undefined && { fault }) };
  return { ...trace, kind: 'throttled', retryAfterMs };
}

const traitsOf = (settings: Settings): AccountProvider['accounts'] => ({
  needs: ['name', 'phone'],
  requeryEveryMs: REQUERY_EVERY_MS,
  // Each record has a customer of its own at Paystack, so a repeat makes at most an account that nobody is told of.
  assigning: { kind: 'idempotent', forMs: null, pauseMs: PAUSE_MS },
  returns: { kind: 'never' },
  ...sharedRate(settings),
});
