import type { z } from 'zod';
import type {
  AuthorizationReading,
  AuthorizationReport,
  AuthorizationState,
  CardDisputeReport,
  CardDisputeState,
  CardEvent,
  CardEventState,
} from '../card-issuer.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import {
  authorizationData,
  changerOf,
  disputeData,
  fundingState,
  issuedData,
  issuedState,
  moneyData,
  unloadState,
  refusalCode,
  reportsData,
  requestData,
  type Report,
  stateData,
} from './card-wire.js';
import { readEnvelope } from './envelope.js';

type About = Pick<CardEvent, 'card' | 'reference' | 'state' | 'reports'>;
type Money = { amount_minor: bigint; code?: string | null | undefined };

/** By the name of the event: what its data say. */
const MONEY_EVENTS = new Map<string, (money: Money) => CardEventState>([
  ['card.funding_pending', funding('pending')],
  ['card.funded', funding('funded')],
  ['card.funding_refused', funding('refused')],
  ['card.funding_reversed', funding('reversed')],
  ['card.unload_pending', unload('pending')],
  ['card.unloaded', unload('funded')],
  ['card.unload_refused', unload('refused')],
  ['card.unload_reversed', unload('reversed')],
]);

type ReportData = z.infer<typeof authorizationData>;

/** Events about an authorization, by name. */
const AUTHORIZATION_EVENTS = new Map<string, (report: ReportData) => AuthorizationState>([
  [
    'card.authorization_advice',
    ({ message_id: messageId, amount_minor: amountMinor }) => ({
      kind: 'approved',
      messageId,
      amountMinor,
      standIn: 'network',
    }),
  ],
  [
    'card.declined',
    ({ message_id, code }) => ({
      kind: 'declined',
      messageId: message_id,
      whole: false,
      code: refusalCode(code ?? 'no_answer'),
    }),
  ],
  [
    'card.cleared',
    ({ message_id, amount_minor: amountMinor, final, forced }) => ({
      kind: 'cleared',
      messageId: message_id,
      amountMinor,
      final,
      forced,
    }),
  ],
  [
    'card.authorization_reversed',
    ({ message_id, amount_minor, whole }) => ({
      kind: 'reversed',
      messageId: message_id,
      amountMinor: whole ? null : amount_minor,
    }),
  ],
  ['card.authorization_expired', ({ message_id }) => ({ kind: 'expired', messageId: message_id })],
  ...(['refunded', 'refund_reversed', 'corrected'] as const).map(
    (kind) =>
      [
        `card.${kind}`,
        ({ message_id, amount_minor: amountMinor }: ReportData) => ({
          kind,
          messageId: message_id,
          amountMinor,
        }),
      ] as const,
  ),
]);

type DisputeData = z.infer<typeof disputeData>;

/** Events about a dispute, by name. */
const DISPUTE_EVENTS = new Map<string, (data: DisputeData) => CardDisputeState>([
  ...(['submitted', 'lost', 'withdrawn'] as const).map(
    (kind) =>
      [
        `card.dispute_${kind}`,
        ({ message_id: messageId }: DisputeData) => ({ kind, messageId }),
      ] as const,
  ),
  ...(['credited', 'credit_reversed', 'won'] as const).map(
    (kind) =>
      [
        `card.dispute_${kind}`,
        ({ message_id: messageId, amount_minor: amountMinor }: DisputeData) => ({
          kind,
          messageId,
          amountMinor,
        }),
      ] as const,
  ),
  [
    'card.dispute_refused',
    ({ message_id: messageId, code }) => ({
      kind: 'rejected',
      messageId,
      code: refusalCode(code),
    }),
  ],
]);

/** The fields of the issuer's messages that hold nothing of a cardholder. `card` is the issuer's id of a card. */
export const CARD_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  environment: 'value',
  occurred_at: 'value',
  reference: 'value',
  message_id: 'value',
  final: 'value',
  whole: 'value',
  forced: 'value',
  card: 'value',
  brand: 'value',
  last4: 'value',
  expiry_month: 'value',
  expiry_year: 'value',
  status: 'value',
  state: 'value',
  changed_by: 'value',
  amount_minor: 'value',
  currency: 'value',
  code: 'value',
  kind: 'value',
  hold_minor: 'value',
  partial_approval: 'value',
  cash_minor: 'value',
  initiator: 'value',
  hold_until: 'value',
  answer_by: 'value',
  channel: 'value',
  requested_at: 'value',
};

/** The answer to a request that cannot be read, such as one of an unknown kind. */
const DECLINE = {
  status: 200,
  body: { approved: false, code: 'unreadable_request', approved_amount_minor: 0 },
};

/** Reads an authentic message of the issuer. Never throws. */
export function readCardMessage(
  body: unknown,
  hash: () => string,
): MessageReading<CardEvent> | AuthorizationReading {
  const message = readEnvelope(body, hash);
  if (message.kind !== 'own') return message;
  const { dedupeKey, name, occurredAt, data } = message;
  if (name === 'card.authorization_requested') {
    return readRequest(data) ?? { kind: 'unreadable', dedupeKey: hash(), name, reply: DECLINE };
  }
  const read = readerOf(name);
  if (!read) return { kind: 'unreadable', dedupeKey, name };
  const about = read(name, data);
  // By its hash: the issuer may send the event again under the same id, corrected.
  if (!about) return { kind: 'unreadable', dedupeKey: hash(), name };
  return { kind: 'event', event: { dedupeKey, name, ...about, occurredAt } };
}

function readerOf(name: string): ((name: string, data: unknown) => About | null) | undefined {
  if (name === 'card.issued') return (_, data) => readIssued(data);
  if (name === 'card.authorization_updated') return (_, data) => readUpdate(data);
  if (name === 'card.state_changed') return (_, data) => readState(data);
  if (MONEY_EVENTS.has(name)) return readMoney;
  if (DISPUTE_EVENTS.has(name)) return readDispute;
  return AUTHORIZATION_EVENTS.has(name) ? readAuthorization : undefined;
}

/** The state in an event about an authorization; null if it is unreadable. */
function readAuthorizationState(name: string, report: ReportData): AuthorizationState | null {
  const state = AUTHORIZATION_EVENTS.get(name)?.(report) ?? null;
  return name !== 'card.corrected' && report.amount_minor < 0n ? null : state;
}

/** Reads a list of reports; null if one of them is unreadable, because none may be missed. */
export function readReports(reports: readonly Report[]): AuthorizationReport[] | null {
  const read = reports.map(({ event, occurred_at, data }) => {
    const state = readAuthorizationState(event, data);
    return state && { state, at: new Date(occurred_at) };
  });
  const readable = read.filter((one) => one !== null);
  return readable.length < reports.length ? null : readable;
}

function readUpdate(data: unknown): About | null {
  const parsed = reportsData.safeParse(data);
  const reports = parsed.success ? readReports(parsed.data.reports) : null;
  const [first] = reports ?? [];
  if (!parsed.success || !reports || !first) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'authorization', state: first.state }, reports };
}

function readAuthorization(name: string, data: unknown): About | null {
  const parsed = authorizationData.safeParse(data);
  const state = parsed.success ? readAuthorizationState(name, parsed.data) : null;
  if (!parsed.success || !state) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'authorization', state } };
}

function readDispute(name: string, data: unknown): About | null {
  const parsed = disputeData.safeParse(data);
  const state = parsed.success ? DISPUTE_EVENTS.get(name)?.(parsed.data) : undefined;
  if (!parsed.success || !state) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'card_dispute', state } };
}

/** Reads the reports about a dispute; null if one of them is unreadable, because none may be missed. */
export function readDisputeReports(
  reports: readonly { event: string; occurred_at: string; data: DisputeData }[],
): CardDisputeReport[] | null {
  const read = reports.flatMap(({ event, occurred_at, data }) => {
    const state = DISPUTE_EVENTS.get(event)?.(data);
    return state ? [{ state, at: new Date(occurred_at) }] : [];
  });
  return read.length < reports.length ? null : read;
}

function readRequest(data: unknown): AuthorizationReading | null {
  const parsed = requestData.safeParse(data);
  if (!parsed.success) return null;
  const { reference: token, card, amount_minor, currency, channel, merchant } = parsed.data;
  const { kind, hold_minor: holdMinor, partial_approval: partialApproval } = parsed.data;
  const { name, category, country } = merchant;
  return {
    kind: 'authorization',
    request: {
      token,
      messageId: parsed.data.message_id ?? token,
      card,
      kind,
      basis: 'step',
      amountMinor: amount_minor,
      holdMinor: holdMinor ?? null,
      partialApproval,
      currency,
      channel,
      merchant: { name, category, country },
      ...detailsIn(parsed.data),
      requestedAt: new Date(parsed.data.requested_at),
    },
  };
}

/** The details that a request names; null where it names none. */
function detailsIn({
  cash_minor: cash = null,
  merchant_amount: there = null,
  initiator = null,
  hold_until: end = null,
  answer_by: by = null,
}: z.infer<typeof requestData>) {
  return {
    cashMinor: cash,
    merchantAmount: there && { amountMinor: there.amount_minor, currency: there.currency },
    initiator,
    holdUntil: end === null ? null : new Date(end),
    answerBy: by === null ? null : new Date(by),
  };
}

function readIssued(data: unknown): About | null {
  const parsed = issuedData.safeParse(data);
  if (!parsed.success) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state: { subject: 'card', state: issuedState(parsed.data) } };
}

function readState(data: unknown): About | null {
  const parsed = stateData.safeParse(data);
  if (!parsed.success) return null;
  const { card, reference, state, changed_by } = parsed.data;
  const reported = { kind: state, changedBy: changerOf(changed_by) };
  return { card, reference, state: { subject: 'card_state', state: reported } };
}

function readMoney(name: string, data: unknown): About | null {
  const parsed = moneyData.safeParse(data);
  const state = parsed.success ? MONEY_EVENTS.get(name)?.(parsed.data) : undefined;
  if (!parsed.success || !state) return null;
  const { card, reference } = parsed.data;
  return { card, reference, state };
}

function funding(status: 'pending' | 'funded' | 'refused' | 'reversed') {
  return (money: Money): CardEventState => ({
    subject: 'funding',
    state: fundingState(status, money),
  });
}

function unload(status: 'pending' | 'funded' | 'refused' | 'reversed') {
  return (money: Money): CardEventState => ({
    subject: 'unload',
    state: unloadState(fundingState(status, money)),
  });
}
