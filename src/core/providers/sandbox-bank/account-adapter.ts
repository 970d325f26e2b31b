import { toWireAmount } from '../../../shared/money.js';
import type { AccountProvider, AccountRequest } from '../account-provider.js';
import { ACCOUNT_SAFE_FIELDS, readAccountMessage } from './account-events.js';
import {
  accountAnswer,
  accountState,
  depositAnswer,
  depositOf,
  depositsAnswer,
  requeryAnswer,
  returnAnswer,
  returnState,
} from './account-wire.js';
import {
  bankHttp,
  errorCode,
  readLookup,
  readSubmitReply,
  throttled,
  unreadable,
  type SandboxBankOptions,
} from './answers.js';
import type { Reply } from '../http.js';
import { readSigned, readStored } from './signed.js';

/** Least pause between two requeries of one account at the sandbox bank. */
const REQUERY_EVERY_MS = 1_000;

/** Creates the sandbox bank's adapter of the port of virtual accounts. */
export function createSandboxBankAccounts(options: SandboxBankOptions): AccountProvider {
  const http = bankHttp(options);
  const post = (path: string, body: unknown, signal: AbortSignal) =>
    http({ method: 'POST', path, body }, signal);
  const get = (path: string, signal: AbortSignal) => http({ method: 'GET', path }, signal);
  return {
    name: 'sandbox-bank',
    accounts: {
      needs: [],
      requeryEveryMs: REQUERY_EVERY_MS,
      assigning: { kind: 'idempotent', forMs: null },
      returns: { kind: 'idempotent', forMs: null },
      callsPerSecond: options.callsPerSecond,
    },
    async assign(request, signal) {
      const reply = await post('/v1/virtual-accounts', assignBody(request), signal);
      return readSubmitReply(reply, (body) => readAccount(body, request.reference));
    },
    async verifyAccount({ reference }, signal) {
      const path = `/v1/virtual-accounts/by-reference/${encodeURIComponent(reference)}`;
      return readLookup(await get(path, signal), 'account_not_found', (body) =>
        readAccount(body, reference),
      );
    },
    async close({ handle, requestedAt }, signal) {
      const path = `/v1/virtual-accounts/${encodeURIComponent(handle)}/close`;
      const body = { requested_at: requestedAt.toISOString() };
      return readClosing(await post(path, body, signal), handle);
    },
    async requery({ accountNumber, day }, signal) {
      const reply = await post(`/v1/virtual-accounts/${accountNumber}/requery`, { day }, signal);
      if (reply.kind === 'answer' && reply.status === 429) {
        return { providerRequestId: reply.requestId, ...throttled(reply) };
      }
      return readLookup(reply, 'account_not_found', (body) =>
        requeryAnswer.safeParse(body).success ? { kind: 'requested' as const } : unreadable(),
      );
    },
    async verifyDeposit(id, signal) {
      const reply = await get(`/v1/deposits/${encodeURIComponent(id)}`, signal);
      return readLookup(reply, 'deposit_not_found', (body) => readDeposit(body, id));
    },
    async listDeposits({ from, to, cursor }, signal) {
      const query = new URLSearchParams({ from: from.toISOString(), to: to.toISOString() });
      if (cursor !== null) query.set('cursor', cursor);
      return readDeposits(await get(`/v1/deposits?${String(query)}`, signal));
    },
    async returnDeposit({ id, amountMinor, marker, requestedAt }, signal) {
      const reply = await post(
        `/v1/deposits/${encodeURIComponent(id)}/returns`,
        {
          marker,
          amount_minor: toWireAmount(amountMinor),
          requested_at: requestedAt.toISOString(),
        },
        signal,
      );
      return readSubmitReply(reply, (body) => readReturn(body, { id, marker }));
    },
    async verifyReturn({ id, marker }, signal) {
      const path = `/v1/deposits/${encodeURIComponent(id)}/returns?marker=${marker}`;
      return readLookup(await get(path, signal), 'return_not_found', (body) =>
        readReturn(body, { id, marker }),
      );
    },
    readMessage: readSigned(options, readAccountMessage),
    readStored: readStored(readAccountMessage),
    safeFields: ACCOUNT_SAFE_FIELDS,
  };
}

const assignBody = (request: AccountRequest) => ({
  reference: request.reference,
  client_reference: request.holder.id,
  account_name: request.accountName,
  bank_code: request.bankCode,
  currency: request.currency,
  requested_at: request.requestedAt.toISOString(),
});

/** The state of this very account, or unknown: an answer about another one says nothing. So below. */
function readAccount(body: unknown, reference: string) {
  const parsed = accountAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  return accountState(parsed.data);
}

function readClosing(reply: Reply, reference: string) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && reply.status === 429) return { ...trace, ...throttled(reply) };
  if (reply.kind === 'answer' && reply.status === 409) {
    const code = errorCode(reply.body);
    if (code === 'account_not_open') return { ...trace, kind: 'rejected' as const, code };
  }
  return readLookup(reply, 'account_not_found', (body) => {
    const state = readAccount(body, reference);
    return state.kind === 'closed' ? { kind: 'closed' as const } : unreadable();
  });
}

function readDeposit(body: unknown, id: string) {
  const parsed = depositAnswer.safeParse(body);
  if (!parsed.success || parsed.data.deposit !== id) return unreadable();
  if (parsed.data.status === 'reversed') return { kind: 'reversed' as const };
  return { kind: 'received' as const, deposit: depositOf(parsed.data) };
}

function readDeposits(reply: Reply) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown' as const, reason: reply.reason };
  const parsed = reply.status === 200 ? depositsAnswer.safeParse(reply.body) : null;
  if (!parsed?.success) return { ...trace, ...unreadable() };
  const { deposits, next } = parsed.data;
  const items = deposits.flatMap((each) => {
    const deposit = depositAnswer.safeParse(each);
    return deposit.success ? [depositOf(deposit.data)] : [];
  });
  return { ...trace, kind: 'page' as const, items, next: next === null ? null : String(next) };
}

function readReturn(body: unknown, { id, marker }: { id: string; marker: string }) {
  const parsed = returnAnswer.safeParse(body);
  const isThis = parsed.success && parsed.data.deposit === id && parsed.data.marker === marker;
  return isThis ? returnState(parsed.data) : unreadable();
}
