import { toWireAmount } from '../../../shared/money.js';
import type {
  BankListAnswer,
  NameEnquiryAnswer,
  TransferRequest,
  TransferProvider,
} from '../transfer-provider.js';
import {
  bankHttp,
  resendSafetyOf,
  errorCode,
  readLookup,
  readReply,
  readSubmitReply,
  reasonOf,
  unreadable,
  type SandboxBankOptions,
} from './answers.js';
import { readSigned, readStored } from './signed.js';
import { readTransferMessage, TRANSFER_SAFE_FIELDS } from './transfer-events.js';
import type { Reply } from '../http.js';
import { createPreparation, readNotNow } from './preparation.js';
import {
  balanceAnswer,
  banksAnswer,
  cancelAnswer,
  enquiryAnswer,
  ledgerAnswer,
  paymentState,
  transferAnswer,
  transfersAnswer,
} from './wire.js';

const NARRATION_LENGTH = 100;
/** Creates the sandbox bank's adapter of the transfer port. */
export function createSandboxBankProvider(options: SandboxBankOptions): TransferProvider {
  const http = bankHttp(options);
  return {
    name: 'sandbox-bank',
    traits: traitsOf(options),
    ...(options.prepares && { prepare: createPreparation(http) }),
    async submit(request, signal) {
      const body = transferBody(request);
      const reply = await http({ method: 'POST', path: '/v1/transfers', body }, signal);
      return (
        readNotNow(reply) ??
        readSubmitReply(reply, (answer) => readTransfer(answer, request.reference))
      );
    },
    // The handle is that of the recipient, which other transfers have too.
    async verify({ reference }, signal) {
      const reply = await http({ method: 'GET', path: transferPath(reference) }, signal);
      return readLookup(reply, 'transfer_not_found', (answer) => readTransfer(answer, reference));
    },
    async cancel({ reference }, signal) {
      const reply = await http({ method: 'DELETE', path: transferPath(reference) }, signal);
      return readLookup(reply, 'transfer_not_found', (answer) => readCancelled(answer, reference));
    },
    async list({ from, to, cursor }, signal) {
      const query = new URLSearchParams({
        from: from.toISOString(),
        to: to.toISOString(),
        ...(cursor !== null && { cursor }),
      });
      const reply = await http(
        { method: 'GET', path: `/v1/transfers?${query.toString()}` },
        signal,
      );
      return readReply(reply, readPage);
    },
    async ledger({ from, to, cursor, takeTurn }, signal) {
      const query = new URLSearchParams({
        from: from.toISOString(),
        to: to.toISOString(),
        ...(cursor !== null && { cursor }),
      });
      await takeTurn();
      const request = { method: 'GET', path: `/v1/ledger?${query.toString()}` } as const;
      return readReply(await http(request, signal), readLedger);
    },
    async balance(signal) {
      return readReply(await http({ method: 'GET', path: '/v1/balance' }, signal), readBalance);
    },
    async resolveAccount({ account, bankCode }, signal) {
      const body = { account, bank_code: bankCode };
      return readEnquiry(await http({ method: 'POST', path: '/v1/name-enquiries', body }, signal));
    },
    async listBanks(signal) {
      return readBanks(await http({ method: 'GET', path: '/v1/banks' }, signal));
    },
    readMessage: readSigned(options, readTransferMessage),
    readStored: readStored(readTransferMessage),
    safeFields: TRANSFER_SAFE_FIELDS,
  };
}

const traitsOf = (options: SandboxBankOptions): TransferProvider['traits'] => {
  const { callsPerSecond, submissionsPerSecond: apart = null } = options;
  const submissions = apart !== null && { bucket: 'submissions', callsPerSecond: apart };
  return {
    resendSafety: resendSafetyOf(options),
    callsPerSecond,
    ...(submissions && { submissions }),
  };
};

const transferPath = (reference: string) => `/v1/transfers/${encodeURIComponent(reference)}`;

function transferBody(
  order: TransferRequest & { handle?: string | null },
): Record<string, unknown> {
  return {
    reference: order.reference,
    client_reference: order.clientReference,
    amount_minor: toWireAmount(order.amountMinor),
    currency: order.currency,
    account: order.recipient.account,
    bank_code: order.recipient.bankCode,
    ...(order.handle != null && { recipient: order.handle }),
    // By characters: half of an emoji would be no text at all.
    narration: [...order.narration].slice(0, NARRATION_LENGTH).join(''),
    requested_at: order.requestedAt.toISOString(),
  };
}

function readEnquiry(reply: Reply): NameEnquiryAnswer {
  if (reply.kind === 'none') return { kind: 'no_answer', reason: reply.reason };
  if (reply.status === 404 && errorCode(reply.body) === 'no_such_account') {
    return { kind: 'not_found' };
  }
  const parsed = reply.status === 200 ? enquiryAnswer.safeParse(reply.body) : null;
  if (!parsed?.success) return { kind: 'no_answer', reason: reasonOf(reply.status) };
  return { kind: 'found', name: parsed.data.account_name, bankName: parsed.data.bank_name };
}

function readBanks(reply: Reply): BankListAnswer {
  if (reply.kind === 'none') return { kind: 'no_answer', reason: reply.reason };
  const parsed = reply.status === 200 ? banksAnswer.safeParse(reply.body) : null;
  if (!parsed?.success) return { kind: 'no_answer', reason: reasonOf(reply.status) };
  const banks = parsed.data.banks.map(({ name, code, nip_code: nipCode }) => ({
    name,
    code,
    nipCode,
  }));
  return { kind: 'banks', banks };
}

/** The state of this very transfer, or unknown: an answer about another one says nothing. */
function readTransfer(body: unknown, reference: string) {
  const parsed = transferAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  if (parsed.data.reference !== reference || parsed.data.currency !== 'NGN') {
    return { kind: 'unknown' as const, reason: 'mismatch' as const };
  }
  return paymentState(parsed.data.status, parsed.data);
}

function readCancelled(body: unknown, reference: string) {
  const parsed = cancelAnswer.safeParse(body);
  return parsed.success && parsed.data.reference === reference
    ? { kind: 'cancelled' as const }
    : readTransfer(body, reference);
}

function readPage(body: unknown) {
  const parsed = transfersAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  const items = parsed.data.transfers.flatMap(({ reference, status, ...payment }) => {
    const state = paymentState(status, payment);
    return state.kind === 'unknown' ? [] : [{ reference, handle: null, state }];
  });
  const { next } = parsed.data;
  return { kind: 'page' as const, items, next: next === null ? null : String(next) };
}

function readLedger(body: unknown) {
  const parsed = ledgerAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  const items = parsed.data.entries.map((entry) => ({
    id: String(entry.seq),
    reference: entry.reference,
    amountMinor: entry.amount_minor,
    feeMinor: null,
    balanceMinor: entry.balance_minor,
    at: new Date(entry.at),
    own: false,
  }));
  const { next } = parsed.data;
  return { kind: 'page' as const, items, next: next === null ? null : String(next) };
}

function readBalance(body: unknown) {
  const parsed = balanceAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  const { available_minor: availableMinor, currency } = parsed.data;
  return { kind: 'balance' as const, availableMinor, currency };
}
