import { toWireAmount } from '../../../shared/money.js';
import type {
  TokenChargeRequest,
  ChargePageRequest,
  PaymentProvider,
  RefundAnswer,
  RefundRequest,
  RevokeAnswer,
} from '../payment-provider.js';
import {
  bankHttp,
  resendSafetyOf,
  errorCode,
  readLookup,
  readSubmitReply,
  throttled,
  unreadable,
  type SandboxBankOptions,
} from './answers.js';
import type { Reply } from '../http.js';
import {
  PAYMENT_SAFE_FIELDS,
  readPaymentMessage,
  readStoredPaymentMessage,
} from './payment-events.js';
import { readSigned } from './signed.js';
import {
  chargeAnswer,
  chargeState,
  pageAnswer,
  refundAnswer,
  refundOf,
  refundsAnswer,
  revokeAnswer,
} from './payment-wire.js';

/** Creates the sandbox bank's adapter of the payment port. */
export function createSandboxBankPayments(options: SandboxBankOptions): PaymentProvider {
  const { secret, callsPerSecond } = options;
  const http = bankHttp(options);
  const charges = resendSafetyOf(options);
  const refunds = resendSafetyOf({ ...options, deduplicates: false });
  return {
    name: 'sandbox-bank',
    payments: { charges, refunds, callsPerSecond },
    async initializeCharge(order, signal) {
      const reply = await http(
        { method: 'POST', path: '/v1/charges', body: pageBody(order) },
        signal,
      );
      return readSubmitReply(reply, (answer) => readPage(answer, order.reference));
    },
    async chargeAuthorization(order, signal) {
      const body = authorizedBody(order);
      const reply = await http({ method: 'POST', path: '/v1/authorized-charges', body }, signal);
      return readSubmitReply(reply, (answer) => readCharge(answer, order.reference));
    },
    async verifyCharge(reference, signal) {
      const path = `/v1/charges/${encodeURIComponent(reference)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'charge_not_found', (answer) => readCharge(answer, reference));
    },
    async refund(order, signal) {
      const body = refundBody(order);
      return readRefund(await http({ method: 'POST', path: '/v1/refunds', body }, signal), order);
    },
    async findRefunds(charge, signal) {
      const path = `/v1/charges/${encodeURIComponent(charge)}/refunds`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'charge_not_found', (answer) => readRefunds(answer, charge));
    },
    async revokeAuthorization(authorization, signal) {
      const path = '/v1/authorizations/revoke';
      const reply = await http({ method: 'POST', path, body: { authorization } }, signal);
      return readRevocation(reply, authorization);
    },
    readMessage: readSigned(secret, readPaymentMessage),
    readStored: readStoredPaymentMessage,
    safeFields: PAYMENT_SAFE_FIELDS,
  };
}

function ask(order: ChargePageRequest | TokenChargeRequest): Record<string, unknown> {
  const { id, email, name } = order.customer;
  return {
    reference: order.reference,
    client_reference: order.clientReference,
    amount_minor: toWireAmount(order.amountMinor),
    currency: order.currency,
    customer: { id, email, name },
    requested_at: order.requestedAt.toISOString(),
  };
}

function pageBody(order: ChargePageRequest): Record<string, unknown> {
  const { channel, returnUrl: return_url } = order;
  if (channel.type === 'card') return { ...ask(order), channel: { type: 'card' }, return_url };
  const { type, account, bankCode: bank_code } = channel;
  return { ...ask(order), channel: { type, account, bank_code }, return_url };
}

function authorizedBody(order: TokenChargeRequest): Record<string, unknown> {
  return { ...ask(order), authorization: order.authorization };
}

function refundBody(order: RefundRequest): Record<string, unknown> {
  return {
    charge: order.charge,
    amount_minor: toWireAmount(order.amountMinor),
    currency: order.currency,
    merchant_note: order.marker,
    client_reference: order.clientReference,
    requested_at: order.requestedAt.toISOString(),
  };
}

/** The state of this very charge, or unknown: an answer about another one says nothing. So below. */
function readCharge(body: unknown, reference: string) {
  const parsed = chargeAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  return chargeState(parsed.data);
}

/** A charge that was paid or abandoned meanwhile still has its page. A declined one has none. */
function readPage(body: unknown, reference: string) {
  const state = readCharge(body, reference);
  if (state.kind === 'unknown') return state;
  if (state.kind === 'rejected') return { kind: 'rejected' as const, code: state.code };
  const parsed = pageAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  return { kind: 'redirect' as const, url: parsed.data.redirect_url };
}

function readRefund(reply: Reply, order: RefundRequest): RefundAnswer {
  if (reply.kind === 'answer' && reply.status === 404) {
    const code = errorCode(reply.body);
    const trace = { providerRequestId: reply.requestId };
    if (code === 'charge_not_found') return { ...trace, kind: 'rejected', code };
  }
  return readSubmitReply(reply, (body) => {
    const parsed = refundAnswer.safeParse(body);
    if (!parsed.success || !isOf(parsed.data, order)) return unreadable();
    return { kind: 'taken' as const, refund: refundOf(parsed.data) };
  });
}

function isOf(
  refund: { charge: string; merchant_note: string | null; amount_minor: bigint },
  order: RefundRequest,
): boolean {
  return (
    refund.charge === order.charge &&
    refund.merchant_note === order.marker &&
    refund.amount_minor === order.amountMinor
  );
}

function readRefunds(body: unknown, charge: string) {
  const parsed = refundsAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  const { refunds } = parsed.data;
  const isWhole =
    parsed.data.charge === charge && refunds.every((refund) => refund.charge === charge);
  return isWhole ? { kind: 'refunds' as const, refunds: refunds.map(refundOf) } : unreadable();
}

function readRevocation(reply: Reply, authorization: string): RevokeAnswer {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && reply.status === 429) return { ...trace, ...throttled(reply) };
  return readLookup(reply, 'authorization_not_found', (body) => {
    const parsed = revokeAnswer.safeParse(body);
    return parsed.success && parsed.data.authorization === authorization
      ? { kind: 'revoked' as const }
      : unreadable();
  });
}
