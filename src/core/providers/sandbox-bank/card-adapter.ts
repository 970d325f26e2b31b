import { toWireAmount } from '../../../shared/money.js';
import type {
  CardIssuer,
  CardFundingRequest,
  ReverseAnswer,
  SetStateAnswer,
  CardStateRequest,
} from '../card-issuer.js';
import {
  bankHttp,
  resendSafetyOf,
  withoutFence,
  errorCode,
  readLookup,
  readSubmitReply,
  throttled,
  unreadable,
  type SandboxBankOptions,
} from './answers.js';
import { CARD_SAFE_FIELDS, readAuthorizationState, readCardMessage } from './card-events.js';
import { readSigned, readStored } from './signed.js';
import {
  authorizationAnswer,
  cardAnswer,
  fundingAnswer,
  fundingState,
  isRefusal,
  issueState,
  unloadState,
} from './card-wire.js';
import type { Reply } from '../http.js';

/** Creates the sandbox bank's adapter of the card port. */
export function createSandboxBankIssuer(options: SandboxBankOptions): CardIssuer {
  const { secret, callsPerSecond } = options;
  const http = bankHttp(options);
  return {
    name: 'sandbox-bank',
    cards: {
      resendSafety: resendSafetyOf(withoutFence(options)),
      balances: options.cardBalances ?? 'issuer',
      callsPerSecond,
    },
    async issue({ reference, clientReference, type, name, requestedAt }, signal) {
      const requested_at = requestedAt.toISOString();
      const body = { reference, client_reference: clientReference, type, name, requested_at };
      const reply = await http({ method: 'POST', path: '/v1/cards', body }, signal);
      return readSubmitReply(reply, (answer) => readCard(answer, reference));
    },
    async findCard(reference, signal) {
      const path = `/v1/cards/by-reference/${encodeURIComponent(reference)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'card_not_found', (answer) => readCard(answer, reference));
    },
    async fund(order, signal) {
      const body = fundingBody(order);
      const reply = await http({ method: 'POST', path: '/v1/fundings', body }, signal);
      return readSubmitReply(reply, (answer) => readFunding(answer, order.reference));
    },
    async findFunding(reference, signal) {
      const path = `/v1/fundings/${encodeURIComponent(reference)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'funding_not_found', (answer) => readFunding(answer, reference));
    },
    async reverseFunding(reference, signal) {
      const path = `/v1/fundings/${encodeURIComponent(reference)}/reverse`;
      return readReversal(await http({ method: 'POST', path }, signal), reference);
    },
    async unload(order, signal) {
      const body = fundingBody(order);
      const reply = await http({ method: 'POST', path: '/v1/unloads', body }, signal);
      return readSubmitReply(reply, (answer) => readUnload(answer, order.reference));
    },
    async findUnload(reference, signal) {
      const path = `/v1/unloads/${encodeURIComponent(reference)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'funding_not_found', (answer) => readUnload(answer, reference));
    },
    async setState(order, signal) {
      const path = `/v1/cards/${encodeURIComponent(order.card)}/state`;
      const body = stateBody(order);
      return readSetting(await http({ method: 'PUT', path, body }, signal), order);
    },
    async readState(card, signal) {
      const path = `/v1/cards/${encodeURIComponent(card)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'card_not_found', (answer) => readCardState(answer, card));
    },
    async findAuthorization(token, signal) {
      const path = `/v1/authorizations/${encodeURIComponent(token)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'authorization_not_found', (answer) =>
        readAuthorizationAnswer(answer, token),
      );
    },
    readMessage: readSigned(secret, readCardMessage),
    readStored: readStored(readCardMessage),
    safeFields: CARD_SAFE_FIELDS,
    renderDecision: ({ approved, code }) => ({ status: 200, body: { approved, code } }),
  };
}

function fundingBody(order: CardFundingRequest): Record<string, unknown> {
  return {
    reference: order.reference,
    client_reference: order.clientReference,
    card: order.card,
    amount_minor: toWireAmount(order.amountMinor),
    currency: order.currency,
    requested_at: order.requestedAt.toISOString(),
  };
}

function stateBody(order: CardStateRequest): Record<string, unknown> {
  return {
    state: order.state,
    version: order.version,
    client_reference: order.clientReference,
    requested_at: order.requestedAt.toISOString(),
  };
}

/** The state of this very card, or unknown: an answer about another one says nothing. So below. */
function readCard(body: unknown, reference: string) {
  const parsed = cardAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  return issueState(parsed.data);
}

function readFunding(body: unknown, reference: string) {
  const parsed = fundingAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  return fundingState(parsed.data.status, parsed.data);
}

function readUnload(body: unknown, reference: string) {
  const read = readFunding(body, reference);
  return read.kind === 'unknown' ? read : unloadState(read);
}

/**
 * A funding that was never done, or that was cancelled while it was pending, is as good as reversed. Only that it never
 * can be is a refusal: it makes the wallet pay, and a "not now" must not.
 */
function readReversal(reply: Reply, reference: string): ReverseAnswer {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && reply.status === 429) return { ...trace, ...throttled(reply) };
  if (reply.kind === 'answer' && reply.status === 422) {
    const code = errorCode(reply.body);
    if (code === 'not_reversible') return { ...trace, kind: 'rejected', code };
  }
  return readLookup(reply, 'funding_not_found', (body) => {
    const { kind } = readFunding(body, reference);
    return kind === 'reversed' || kind === 'rejected'
      ? { kind: 'reversed' as const }
      : unreadable();
  });
}

function readSetting(reply: Reply, order: CardStateRequest): SetStateAnswer {
  const trace = { providerRequestId: reply.requestId };
  if (reply.kind === 'answer' && [404, 409, 422].includes(reply.status)) {
    const code = errorCode(reply.body);
    if (isRefusal(code)) return { ...trace, kind: 'rejected', code };
  }
  return readSubmitReply(reply, (body) => {
    const current = readCardState(body, order.card);
    const isSet =
      current.kind === 'state' &&
      current.state === order.state &&
      current.version === order.version;
    return isSet ? { kind: 'set' as const } : unreadable();
  });
}

/** An answer with one report that cannot be read says nothing: the hold must not end without it. */
function readAuthorizationAnswer(body: unknown, token: string) {
  const parsed = authorizationAnswer.safeParse(body);
  if (!parsed.success || parsed.data.token !== token) return unreadable();
  const reports = parsed.data.reports.map(({ event, occurred_at, data }) => {
    const state = readAuthorizationState(event, data);
    return state && { state, at: new Date(occurred_at) };
  });
  const readable = reports.filter((report) => report !== null);
  if (readable.length < reports.length) return unreadable();
  return { kind: 'authorization' as const, over: parsed.data.over, reports: readable };
}

function readCardState(body: unknown, card: string) {
  const parsed = cardAnswer.safeParse(body);
  if (!parsed.success || parsed.data.status !== 'issued' || parsed.data.card !== card) {
    return unreadable();
  }
  const { state, version } = parsed.data;
  return { kind: 'state' as const, state, version };
}
