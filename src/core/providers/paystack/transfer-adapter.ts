import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { TransferProvider } from '../transfer-provider.js';
import { NO_TURN, type Unknown } from '../port.js';
import type { PaystackBanks } from './banks.js';
import { createPaystackClient, withoutAbsence, type Data, type PaystackClient } from './client.js';
import { readLedger } from './ledger.js';
import { at, pageOf, PAGE_SIZE, query } from './lists.js';
import { SAFE_FIELDS } from './messages.js';
import { sharedRate, transferRate } from './rates.js';
import { transferReferences } from './references.js';
import {
  askHolder,
  readBalance,
  readRecipient,
  readTransfer,
  readTransfers,
  recipientBody,
  transferBody,
} from './transfer-calls.js';
import { createTransferReader } from './transfer-events.js';

const REMEMBERED_RECIPIENTS = 10_000;
/** Two requests with one reference are never processed at once. */
const PAUSE_MS = 60_000;
/** The highest step of Paystack's price list is ₦50; a levy of ₦50 may come on top. */
const FEE_AT_MOST_MINOR = 10_000n;

/** Creates Paystack's adapter of the transfer port. */
export function createPaystackTransfers(
  settings: PaystackSettings,
  banks: PaystackBanks,
): TransferProvider {
  const { domain } = settings;
  const client = createPaystackClient(settings);
  const recipients = createRecipientCache();

  return {
    name: 'paystack',
    traits: traitsOf(settings),
    async prepare(order, signal) {
      const { account, bankCode, name } = order.recipient;
      const known = order.hadVoidHandle ? undefined : recipients.get(account, bankCode);
      if (known !== undefined) return { kind: 'ready', handle: known, providerRequestId: null };
      if (order.takeTurn && !(await order.takeTurn())) return NO_TURN;
      const bank = await banks.find(bankCode, signal);
      if (bank === null) return { ...invalidAccount, providerRequestId: null };
      if ('kind' in bank) return bank;
      const wanted = { account, bankCode: bank.code };
      const body = recipientBody(wanted, name);
      const request = {
        call: 'prepare',
        method: 'POST',
        path: '/transferrecipient',
        body,
      } as const;
      const answer = await client.submit(request, signal, (found) =>
        readRecipient(found, wanted, domain),
      );
      if (answer.kind === 'ready') recipients.set(account, bankCode, answer.handle);
      return answer;
    },
    async submit(order, signal) {
      const { account, bankCode } = order.recipient;
      if (order.handle == null) return { ...staleHandle, providerRequestId: null };
      const body = transferBody(order, order.handle);
      const request = { call: 'submit', method: 'POST', path: '/transfer', body } as const;
      const answer = await client.submit(request, signal, (found) =>
        readTransfer(found, order.reference, domain),
      );
      const isStale = answer.kind === 'rejected_temporarily' && answer.reason === 'stale_handle';
      if (isStale) recipients.remove(account, bankCode);
      return answer;
    },
    // The handle is that of the recipient, which other transfers have too.
    async verify({ reference }, signal) {
      const theirs = transferReferences.toTheirs(reference);
      const path = at('/transfer/verify', theirs);
      const request = { call: 'verifyTransfer', method: 'GET', path } as const;
      return client.verify(request, signal, (found) => readTransfer(found, reference, domain));
    },
    async list({ from, to, cursor }, signal) {
      const page = pageOf(cursor);
      const window = { from: from.toISOString(), to: to.toISOString() };
      const path = `/transfer?${query({ ...window, per_page: PAGE_SIZE, page })}`;
      const request = { call: 'list', method: 'GET', path } as const;
      const read = (found: Data) => readTransfers(found, page, domain);
      return withoutAbsence(await client.verify(request, signal, read));
    },
    ledger: (window, signal) => readLedger(client, window, domain, signal),
    ...createDirectory(client, banks, domain),
    ...createTransferReader(settings),
    safeFields: SAFE_FIELDS,
  };
}

/** The questions that are about no transfer: accounts, banks, our balance. */
function createDirectory(
  client: PaystackClient,
  banks: PaystackBanks,
  domain: string,
): Pick<TransferProvider, 'resolveAccount' | 'listBanks' | 'balance'> {
  return {
    async resolveAccount({ account, bankCode }, signal) {
      const bank = await banks.find(bankCode, signal);
      if (bank === null) return { kind: 'not_found' };
      if ('kind' in bank) return silence(bank);
      const answer = await askHolder(client, { account, bankCode: bank.code }, signal);
      if (answer.kind === 'unknown') return silence(answer);
      if (answer.kind === 'not_found') return { kind: 'not_found' };
      return { kind: 'found', name: answer.name, bankName: bank.name };
    },
    async listBanks(signal) {
      const listed = await banks.list(signal);
      if (listed.kind === 'unknown') return silence(listed);
      const found = listed.banks.flatMap(({ name, code, nipCode }) =>
        nipCode !== null && /^[0-9]{3,6}$/.test(code) ? [{ name, code, nipCode }] : [],
      );
      return { kind: 'banks', banks: found };
    },
    async balance(signal) {
      const request = { call: 'balance', method: 'GET', path: '/balance' } as const;
      const read = (found: Data) => readBalance(found, domain);
      return withoutAbsence(await client.verify(request, signal, read));
    },
  };
}

const invalidAccount = { kind: 'rejected', code: 'invalid_account', scope: 'request' } as const;
const staleHandle = { kind: 'rejected_temporarily', reason: 'stale_handle', afterMs: 0 } as const;

/**
 * The recipients that this process has made, so that most transfers need no second call. The key is a keyed hash: no
 * account number stays in memory. A recipient that Paystack no longer knows is removed by the process that was told so.
 */
function createRecipientCache() {
  const secret = randomBytes(32);
  const known = new LRUCache<string, string>({ max: REMEMBERED_RECIPIENTS });
  const keyOf = (account: string, bankCode: string): string =>
    createHmac('sha256', secret).update(`${bankCode}/${account}`).digest('base64');
  return {
    get: (account: string, bankCode: string) => known.get(keyOf(account, bankCode)),
    set: (account: string, bankCode: string, code: string) =>
      void known.set(keyOf(account, bankCode), code),
    remove: (account: string, bankCode: string) => void known.delete(keyOf(account, bankCode)),
  };
}

const silence = ({ reason }: Pick<Unknown, 'reason'>) => ({ kind: 'no_answer', reason }) as const;

const traitsOf = (settings: PaystackSettings): TransferProvider['traits'] => ({
  resendSafety: { kind: 'idempotent', forMs: null, pauseMs: PAUSE_MS },
  ...sharedRate(settings),
  ...transferRate(settings),
  // A balance says nothing about the setting for codes, our requests or the state of the business.
  endedByOperator: ['otp_required', 'suspended', 'bad_request', 'environment'],
  feeAtMostMinor: FEE_AT_MOST_MINOR,
  floatAlertMinor: settings.floatAlertMinor,
});
