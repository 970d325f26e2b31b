import { toWireAmount } from '../../../shared/money.js';
import type {
  ChargePageRequest,
  FindRequest,
  PaymentProvider,
  RefundAnswer,
  RefundRequest,
  RevokeAnswer,
  SetupRequest,
  TokenChargeRequest,
} from '../payment-provider.js';
import { OWN_REFERENCES, type NotNow, type Rejected, type Trace } from '../port.js';
import type { PrepareAnswer } from '../transfer-provider.js';
import {
  bankHttp,
  errorCode,
  readLookup,
  readReply,
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
import { paymentTraits } from './payment-traits.js';
import { readSigned } from './signed.js';
import {
  disputeOf,
  disputesAnswer,
  disputesPage,
  pageAnswer,
  preparationAnswer,
  readChargeState,
  refundAnswer,
  refundOf,
  refundsAnswer,
  revokeAnswer,
  setupAnswer,
  setupState,
} from './payment-wire.js';

const toTheirs = (reference: string) => OWN_REFERENCES.toTheirs(reference);
const at = (...segments: string[]) => `/v1/${segments.map(encodeURIComponent).join('/')}`;

const charge = (reference: string) => at('charges', toTheirs(reference));

/** Creates the sandbox bank's adapter of the payment port. */
export function createSandboxBankPayments(options: SandboxBankOptions): PaymentProvider {
  const http = bankHttp(options);
  const get = (path: string, signal: AbortSignal) => http({ method: 'GET', path }, signal);
  const post = (path: string, body: unknown, signal: AbortSignal) =>
    http({ method: 'POST', path, body }, signal);
  return {
    name: 'sandbox-bank',
    payments: paymentTraits(options),
    async openPage(order, signal) {
      const reply = await post('/v1/charges', pageBody(order), signal);
      return readSubmission(reply, (answer) => readPage(answer, order.reference));
    },
    ...(options.prepares && {
      async prepareCharge({ method: authorization }: TokenChargeRequest, signal: AbortSignal) {
        return readPreparation(await post('/v1/charge-preparations', { authorization }, signal));
      },
    }),
    async confirmCharge(order, signal) {
      const reply = await post('/v1/authorized-charges', tokenBody(order), signal);
      return (
        readVoid(reply) ?? readSubmission(reply, (answer) => readCharge(answer, order.reference))
      );
    },
    async verifyCharge({ reference }, signal) {
      const reply = await get(charge(reference), signal);
      return readLookup(reply, 'charge_not_found', (answer) => readCharge(answer, reference));
    },
    async cancelCharge({ reference }, signal) {
      const reply = await post(`${charge(reference)}/cancel`, {}, signal);
      return readLookup(reply, 'charge_not_found', (answer) => readCharge(answer, reference));
    },
    async setUp(order, signal) {
      const reply = await post('/v1/setups', setupBody(order), signal);
      return readSubmission(reply, (answer) => readSetupPage(answer, order.reference));
    },
    async verifySetup({ reference }, signal) {
      const reply = await get(at('setups', toTheirs(reference)), signal);
      return readLookup(reply, 'setup_not_found', (answer) => readSetup(answer, reference));
    },
    async refund(order, signal) {
      const reply = await post('/v1/refunds', refundBody(order), signal);
      return readRefund(reply, (refund) => isOf(refund, order));
    },
    async resumeRefund({ id, account }, signal) {
      const body = { account: account.account, bank_code: account.bankCode };
      const reply = await post(`${at('refunds', id)}/account`, body, signal);
      return readRefund(reply, (refund) => refund.refund === id);
    },
    async findRefunds(request, signal) {
      const reply = await get(`/v1/refunds?${search(request)}`, signal);
      return readLookup(reply, 'charge_not_found', readRefunds);
    },
    ...disputesAt(get),
    async revokeMethod({ code }, signal) {
      const reply = await post('/v1/authorizations/revoke', { authorization: code }, signal);
      return readRevocation(reply, code);
    },
    readMessage: readSigned(options, readPaymentMessage),
    readStored: readStoredPaymentMessage,
    safeFields: PAYMENT_SAFE_FIELDS,
  };
}

/** The calls about disputes. */
const disputesAt = (
  get: (path: string, signal: AbortSignal) => Promise<Reply>,
): Required<Pick<PaymentProvider, 'findDisputes' | 'listDisputes'>> => ({
  async findDisputes({ reference }, signal) {
    const reply = await get(`${charge(reference)}/disputes`, signal);
    return readLookup(reply, 'charge_not_found', (answer) => readDisputes(answer, reference));
  },
  async listDisputes({ from, to, cursor }, signal) {
    const window = { from: from.toISOString(), to: to.toISOString() };
    const query = new URLSearchParams({ ...window, ...(cursor && { after: cursor }) });
    return readReply(await get(`/v1/charge-disputes?${String(query)}`, signal), readDisputesPage);
  },
});

/** The reply to a submission. The bank answers 409 if it gives the address of a page no second time. */
function readSubmission<State>(reply: Reply, read: (body: unknown) => State) {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && reply.status === 409) {
    const code = errorCode(reply.body);
    const taken = code === 'reference_taken' || code === 'reference_conflict';
    return {
      ...trace,
      kind: 'unknown' as const,
      reason: taken ? ('conflict' as const) : ('unreadable' as const),
    };
  }
  return readSubmitReply(reply, read);
}

function readPreparation(reply: Reply): Exclude<PrepareAnswer, { kind: 'no_turn' }> {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && errorCode(reply.body) === 'authorization_not_found') {
    return { ...trace, ...rejected('authorization_not_found', 'request') };
  }
  return readSubmitReply(reply, (body) => {
    const parsed = preparationAnswer.safeParse(body);
    return parsed.success
      ? { kind: 'ready' as const, handle: parsed.data.preparation }
      : unreadable();
  });
}

/** Reads the refusal of a charge whose preparation is void; null for any other reply. */
function readVoid(reply: Reply): (Trace & NotNow) | null {
  if (reply.kind !== 'answer' || errorCode(reply.body) !== 'unknown_preparation') return null;
  const trace = { providerRequestId: reply.requestId };
  return { ...trace, kind: 'rejected_temporarily', reason: 'stale_handle', afterMs: 0 };
}

function ask(order: SetupRequest): Record<string, unknown> {
  const { id, email, name } = order.customer;
  return {
    reference: toTheirs(order.reference),
    client_reference: order.clientReference,
    customer: { id, email, name },
    requested_at: order.requestedAt.toISOString(),
  };
}

function setupBody(order: SetupRequest): Record<string, unknown> {
  const { channel, returnUrl: return_url } = order;
  if (channel.type === 'card') return { ...ask(order), channel: { type: 'card' }, return_url };
  const { type, account, bankCode: bank_code } = channel;
  return { ...ask(order), channel: { type, account, bank_code }, return_url };
}

const money = ({ amountMinor, currency }: Pick<ChargePageRequest, 'amountMinor' | 'currency'>) => ({
  amount_minor: toWireAmount(amountMinor),
  currency,
});

const pageBody = (order: ChargePageRequest) => ({ ...setupBody(order), ...money(order) });

const tokenBody = (order: TokenChargeRequest & { handle: string | null }) => ({
  ...ask({ ...order, channel: { type: 'card' } }),
  ...money(order),
  authorization: order.method,
  return_url: order.returnUrl,
  ...(order.handle !== null && { preparation: order.handle }),
});

const refundBody = (order: RefundRequest) => ({
  charge: toTheirs(order.charge.reference),
  ...money(order),
  merchant_note: order.marker,
  client_reference: order.clientReference,
  requested_at: order.requestedAt.toISOString(),
});

const search = ({ reference, since, cursor }: FindRequest) =>
  new URLSearchParams({
    charge: toTheirs(reference),
    since: since.toISOString(),
    ...(cursor !== null && { after: cursor }),
  }).toString();

const readCharge = (body: unknown, reference: string) => readChargeState(body, toTheirs(reference));

/** A charge that was paid or left meanwhile still has its page. A declined one has none. */
function readPage(body: unknown, reference: string) {
  const state = readCharge(body, reference);
  if (state.kind === 'unknown') return state;
  if (state.kind === 'declined') return rejected(state.code, 'instruction');
  return pageOf(body);
}

function readSetupPage(body: unknown, reference: string) {
  const state = readSetup(body, reference);
  if (state.kind === 'unknown') return state;
  return state.kind === 'declined' ? rejected(state.code, 'instruction') : pageOf(body);
}

function pageOf(body: unknown) {
  const parsed = pageAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  return { kind: 'page' as const, url: parsed.data.redirect_url, handle: null, expiresAt: null };
}

function readSetup(body: unknown, reference: string) {
  const parsed = setupAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== toTheirs(reference)) return unreadable();
  return setupState(parsed.data);
}

const rejected = (code: string, scope: NonNullable<Rejected['scope']>): Rejected => ({
  kind: 'rejected',
  code,
  scope,
});

type TheirRefund = {
  refund: string;
  charge: string;
  merchant_note: string | null;
  amount_minor: bigint;
};

function readRefund(reply: Reply, isOurs: (refund: TheirRefund) => boolean): RefundAnswer {
  const trace = { providerRequestId: reply.requestId };
  const code = reply.kind === 'answer' ? errorCode(reply.body) : '';
  if (reply.kind === 'answer' && reply.status === 404 && code === 'charge_not_found') {
    return { ...trace, ...rejected(code, 'request') };
  }
  if (reply.kind === 'answer' && reply.status === 422 && code === 'not_waiting') {
    return { ...trace, ...rejected(code, 'request') };
  }
  return readSubmission(reply, (body) => {
    const parsed = refundAnswer.safeParse(body);
    if (!parsed.success || !isOurs(parsed.data)) return unreadable();
    return { kind: 'accepted' as const, refund: refundOf(parsed.data) };
  });
}

const isOf = (refund: TheirRefund, order: RefundRequest): boolean =>
  refund.charge === toTheirs(order.charge.reference) &&
  refund.merchant_note === order.marker &&
  refund.amount_minor === order.amountMinor;

function readRefunds(body: unknown) {
  const parsed = refundsAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  const { refunds, next } = parsed.data;
  return { kind: 'page' as const, items: refunds.map(refundOf), next };
}

function readDisputes(body: unknown, reference: string) {
  const parsed = disputesAnswer.safeParse(body);
  if (!parsed.success) return unreadable();
  const theirs = toTheirs(reference);
  const { charge, disputes } = parsed.data;
  const isWhole = charge === theirs && disputes.every((dispute) => dispute.charge === theirs);
  return isWhole
    ? { kind: 'page' as const, items: disputes.map(disputeOf), next: null }
    : unreadable();
}

function readDisputesPage(body: unknown) {
  const parsed = disputesPage.safeParse(body);
  if (!parsed.success) return unreadable();
  const { disputes, next } = parsed.data;
  return { kind: 'page' as const, items: disputes.map(disputeOf), next };
}

function readRevocation(reply: Reply, code: string): RevokeAnswer {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && reply.status === 429) return { ...trace, ...throttled(reply) };
  return readLookup(reply, 'authorization_not_found', (body) => {
    const parsed = revokeAnswer.safeParse(body);
    return parsed.success && parsed.data.authorization === code
      ? { kind: 'revoked' as const }
      : unreadable();
  });
}
