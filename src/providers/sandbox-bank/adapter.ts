import { toWireAmount } from '../../money.js';
import type {
  BankListAnswer,
  InitiateAnswer,
  NameEnquiryAnswer,
  TransferOrder,
  TransferProvider,
  UnknownReason,
  VerifyAnswer,
} from '../provider.js';
import { readSandboxBankCallback } from './callback.js';
import { createBankHttp, type Reply } from './http.js';
import { banksAnswer, enquiryAnswer, errorAnswer, paymentState, transferAnswer } from './wire.js';

const NARRATION_LENGTH = 100;
/** The bank takes a time that is this far ahead of its own, so an order can live that much longer. */
const CLOCK_AHEAD_MS = 250;
/** Also where the provider names no pause, or none: throttled is never "at once". */
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;

export type SandboxBankProviderOptions = {
  url: string;
  secret: string;
  /** How the bank runs: whether it pays a repeated reference once, and if not, from what age it refuses an order. */
  deduplicates: boolean;
  finalAfterMs: number;
  /** Bound of one call, from the first byte to the last. */
  timeoutMs: number;
  callsPerSecond: number;
};

/** The sandbox bank as a transfer provider. Only what the bank said in full and in its own shape is believed. */
export function createSandboxBankProvider(options: SandboxBankProviderOptions): TransferProvider {
  const { secret, deduplicates, finalAfterMs, callsPerSecond } = options;
  const http = createBankHttp(options);
  return {
    name: 'sandbox-bank',
    capabilities: {
      absence: deduplicates
        ? { kind: 'deduplicates' }
        : { kind: 'final_after', ms: finalAfterMs + CLOCK_AHEAD_MS },
      callsPerSecond,
    },
    async initiate(order, signal) {
      const body = transferBody(order);
      return readInitiate(
        await http({ method: 'POST', path: '/v1/transfers', body }, signal),
        order.reference,
      );
    },
    async verify(reference, signal) {
      const path = `/v1/transfers/${encodeURIComponent(reference)}`;
      return readVerify(await http({ method: 'GET', path }, signal), reference);
    },
    async resolveAccount({ account, bankCode }, signal) {
      const body = { account, bank_code: bankCode };
      return readEnquiry(await http({ method: 'POST', path: '/v1/name-enquiries', body }, signal));
    },
    async listBanks(signal) {
      return readBanks(await http({ method: 'GET', path: '/v1/banks' }, signal));
    },
    readCallback: (raw, headers, now) => readSandboxBankCallback(secret, raw, headers, now),
  };
}

function transferBody(order: TransferOrder): Record<string, unknown> {
  return {
    reference: order.reference,
    client_reference: order.clientReference,
    amount_minor: toWireAmount(order.amountMinor),
    currency: order.currency,
    account: order.recipient.account,
    bank_code: order.recipient.bankCode,
    // By characters: half of an emoji would be no text at all.
    narration: [...order.narration].slice(0, NARRATION_LENGTH).join(''),
    requested_at: order.requestedAt.toISOString(),
  };
}

function readInitiate(reply: Reply, reference: string): InitiateAnswer {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown', reason: reply.reason };
  if (reply.status === 200 || reply.status === 201) {
    return { ...trace, ...readTransfer(reply.body, reference) };
  }
  if (reply.status === 429) {
    return { ...trace, kind: 'throttled', retryAfterMs: retryAfterMs(reply.retryAfter) };
  }
  // No other answer is conclusive. Also a conflict is not: it means that the bank has this reference already.
  const tooOld = reply.status === 422 && ['too_old', 'too_early'].includes(errorCode(reply.body));
  return { ...trace, kind: 'unknown', reason: tooOld ? 'too_old' : 'unreadable' };
}

function readVerify(reply: Reply, reference: string): VerifyAnswer {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'none') return { ...trace, kind: 'unknown', reason: reply.reason };
  if (reply.status === 200) return { ...trace, ...readTransfer(reply.body, reference) };
  // A bare 404 may come from a wrong address or a proxy, and "not found" can let money go out again.
  if (reply.status === 404 && errorCode(reply.body) === 'transfer_not_found') {
    return { ...trace, kind: 'not_found' };
  }
  return { ...trace, kind: 'unknown', reason: reasonOf(reply.status) };
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
  if (!parsed.success || parsed.data.reference !== reference) {
    return { kind: 'unknown' as const, reason: 'unreadable' as const };
  }
  return paymentState(parsed.data.status, parsed.data);
}

function reasonOf(status: number): UnknownReason {
  return status === 429 ? 'throttled' : 'unreadable';
}

function errorCode(body: unknown): string {
  const parsed = errorAnswer.safeParse(body);
  return parsed.success ? parsed.data.error.code : '';
}

function retryAfterMs(header: string | null): number {
  if (header === null || !/^[0-9]{1,9}$/.test(header.trim())) return MIN_RETRY_AFTER_MS;
  return Math.max(MIN_RETRY_AFTER_MS, Math.min(Number(header) * 1000, MAX_RETRY_AFTER_MS));
}
