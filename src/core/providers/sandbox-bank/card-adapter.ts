import { toWireAmount } from '../../../shared/money.js';
import { OWN_REFERENCES } from '../port.js';
import { createCardNames, type CardNames } from './card-names.js';
import {
  namedBy,
  type CardCall,
  type CardIssuer,
  type CardDisputeRequest,
  type CardFundingRequest,
  type ReverseAnswer,
  type SubmitDisputeAnswer,
  type WithdrawDisputeAnswer,
  type SetStateAnswer,
  type CardStateRequest,
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
import {
  CARD_SAFE_FIELDS,
  readCardMessage,
  readDisputeReports,
  readReports,
} from './card-events.js';
import { readSigned, readStored } from './signed.js';
import {
  authorizationAnswer,
  cardAnswer,
  changerOf,
  disputeAnswer,
  fundingAnswer,
  fundingState,
  isRefusal,
  issueState,
  unloadState,
} from './card-wire.js';
import type { Reply } from '../http.js';

/** The issuer waits half a second longer. */
const DECISION_DEADLINE_MS = 1_500;

/** Creates the sandbox bank's adapter of the card port. */
export function createSandboxBankIssuer(options: SandboxBankOptions): CardIssuer {
  const http = bankHttp(options);
  const names = createCardNames(options.cardLookup ?? 'reference');
  return {
    name: 'sandbox-bank',
    cards: traitsOf(options),
    async issue({ reference, clientReference, type, name, requestedAt }, signal) {
      const requested_at = requestedAt.toISOString();
      const body = { reference, client_reference: clientReference, type, name, requested_at };
      const reply = await http({ method: 'POST', path: '/v1/cards', body }, signal);
      return readSubmitReply(reply, (answer) => names.named(readCard(answer, reference), answer));
    },
    findCard: (about, signal) =>
      names.ask(about, async (name) => {
        const path = `/v1/cards/by-reference/${name}`;
        const reply = await http({ method: 'GET', path }, signal);
        return readLookup(reply, 'card_not_found', (answer) => readCard(answer, about.reference));
      }),
    ...fundingsAt(http, names),
    ...disputesAt(http, names),
    async setState(order, signal) {
      const path = `/v1/cards/${encodeURIComponent(order.card)}/state`;
      const body = stateBody(order);
      const ordered = options.cardStateSequence !== 'ours';
      return readSetting(await http({ method: 'PUT', path, body }, signal), order, ordered);
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
    readMessage: readSigned(options, readCardMessage),
    readStored: readStored(readCardMessage),
    safeFields: CARD_SAFE_FIELDS,
    renderDecision,
  };
}

/** The calls about money that moves to a card, or from it. */
const fundingsAt = (
  http: ReturnType<typeof bankHttp>,
  names: CardNames,
): Pick<CardIssuer, 'fund' | 'findFunding' | 'reverseFunding' | 'unload' | 'findUnload'> => ({
  async fund(order, signal) {
    const body = fundingBody(order);
    const reply = await http({ method: 'POST', path: '/v1/fundings', body }, signal);
    return readSubmitReply(reply, (answer) =>
      names.named(readFunding(answer, order.reference), answer),
    );
  },
  findFunding: (about, signal) =>
    names.ask(about, async (name) => {
      const reply = await http({ method: 'GET', path: `/v1/fundings/${name}` }, signal);
      return readLookup(reply, 'funding_not_found', (answer) =>
        readFunding(answer, about.reference),
      );
    }),
  reverseFunding: (about, signal) =>
    names.ask(about, async (name) => {
      const reply = await http({ method: 'POST', path: `/v1/fundings/${name}/reverse` }, signal);
      return readReversal(reply, about.reference);
    }),
  async unload(order, signal) {
    const body = fundingBody(order);
    const reply = await http({ method: 'POST', path: '/v1/unloads', body }, signal);
    return readSubmitReply(reply, (answer) =>
      names.named(readUnload(answer, order.reference), answer),
    );
  },
  findUnload: (about, signal) =>
    names.ask(about, async (name) => {
      const reply = await http({ method: 'GET', path: `/v1/unloads/${name}` }, signal);
      return readLookup(reply, 'funding_not_found', (answer) =>
        readUnload(answer, about.reference),
      );
    }),
});

/** The calls about disputes. */
const disputesAt = (
  http: ReturnType<typeof bankHttp>,
  names: CardNames,
): Pick<CardIssuer, 'submitDispute' | 'findDispute' | 'withdrawDispute'> => ({
  async submitDispute(order, signal): Promise<SubmitDisputeAnswer> {
    const body = disputeBody(order);
    const reply = await http({ method: 'POST', path: '/v1/disputes', body }, signal);
    const read = readSubmitReply(reply, (answer) =>
      names.named(readDispute(answer, order.reference), answer),
    );
    if (read.kind !== 'dispute') return read;
    const { providerRequestId, reports } = read;
    const refused = reports.find(({ state }) => state.kind === 'rejected')?.state;
    if (refused?.kind === 'rejected') {
      return { kind: 'rejected', code: refused.code, providerRequestId };
    }
    const kind = reports.length === 0 ? 'pending' : 'submitted';
    return { kind, providerRequestId, ...namedBy(read) };
  },
  findDispute: (about, signal) =>
    names.ask(about, async (name) => {
      const reply = await http({ method: 'GET', path: `/v1/disputes/${name}` }, signal);
      return readLookup(reply, 'dispute_not_found', (answer) =>
        readDispute(answer, about.reference),
      );
    }),
  withdrawDispute: (about, signal) =>
    names.ask(about, async (name) => {
      const reply = await http({ method: 'POST', path: `/v1/disputes/${name}/withdraw` }, signal);
      return readWithdrawal(reply, about.reference);
    }),
});

function readWithdrawal(reply: Reply, reference: string): WithdrawDisputeAnswer {
  const { requestId: providerRequestId } = reply;
  // That it does not know the dispute contradicts what it has said: the answer is unknown.
  const isRefused = reply.kind === 'answer' && reply.status === 422;
  const code = isRefused ? errorCode(reply.body) : '';
  if (isRefusal(code)) return { kind: 'rejected', code, providerRequestId };
  return readSubmitReply(reply, (answer) => {
    const read = readDispute(answer, reference);
    const isDone =
      read.kind === 'dispute' && read.reports.some(({ state }) => state.kind === 'withdrawn');
    return isDone ? { kind: 'withdrawn' as const } : unreadable();
  });
}

const CALLS: readonly CardCall[] = ['issue', 'state', 'fund', 'unload', 'dispute', 'find'];

/** All calls share one rate. */
function traitsOf(options: SandboxBankOptions): CardIssuer['cards'] {
  const rate = { bucket: 'cards', perSecond: options.callsPerSecond };
  return {
    currencies: ['NGN'],
    references: OWN_REFERENCES,
    rates: Object.fromEntries(CALLS.map((call) => [call, rate])) as CardIssuer['cards']['rates'],
    resendSafety: resendSafetyOf(withoutFence(options)),
    balances: options.cardBalances ?? 'issuer',
    stateSequence: options.cardStateSequence ?? 'issuer',
    types: ['virtual', 'physical'],
    decision: {
      deadlineMs: options.decisionDeadlineMs ?? DECISION_DEADLINE_MS,
      onSilence: 'decline',
      asksAgain: true,
    },
  };
}

const renderDecision: CardIssuer['renderDecision'] = (
  _request,
  { approved, code, approvedMinor, availableMinor },
) => ({
  status: 200,
  body: {
    approved,
    code,
    approved_amount_minor: toWireAmount(approvedMinor),
    ...(availableMinor !== null && { available_minor: toWireAmount(availableMinor) }),
  },
});

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

function disputeBody(order: CardDisputeRequest): Record<string, unknown> {
  return {
    reference: order.reference,
    client_reference: order.clientReference,
    card: order.card,
    authorization: order.token,
    amount_minor: toWireAmount(order.amountMinor),
    currency: order.currency,
    reason: order.reason,
    explanation: order.explanation,
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

function readSetting(reply: Reply, order: CardStateRequest, ordered: boolean): SetStateAnswer {
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
      (!ordered || current.version === order.version);
    return isSet ? { kind: 'set' as const } : unreadable();
  });
}

/** An answer with one report that cannot be read says nothing: the hold must not end without it. */
function readAuthorizationAnswer(body: unknown, token: string) {
  const parsed = authorizationAnswer.safeParse(body);
  if (!parsed.success || parsed.data.token !== token) return unreadable();
  const reports = readReports(parsed.data.reports);
  if (!reports) return unreadable();
  const { over, approved } = parsed.data;
  return { kind: 'authorization' as const, over, approved, reports };
}

/** An answer with one report that cannot be read says nothing: money may be in it. */
function readDispute(body: unknown, reference: string) {
  const parsed = disputeAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  const reports = readDisputeReports(parsed.data.reports);
  return reports ? { kind: 'dispute' as const, reports } : unreadable();
}

function readCardState(body: unknown, card: string) {
  const parsed = cardAnswer.safeParse(body);
  if (!parsed.success || parsed.data.status !== 'issued' || parsed.data.card !== card) {
    return unreadable();
  }
  const { state, version, changed_by, updated_at } = parsed.data;
  const changed = { changedBy: changerOf(changed_by), changedAt: new Date(updated_at) };
  return { kind: 'state' as const, state, version, ...changed };
}
