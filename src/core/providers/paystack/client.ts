import { createHash } from 'node:crypto';
import { createProviderHttp, type ProviderRequest, type Reply } from '../http.js';
import type { NotFound, NotNow, Rejected, Trace, Unknown } from '../port.js';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import { readEnvelope, type Envelope, type Refusal } from './envelope.js';
import { wordOf } from './fields.js';
import { meaningOf, type Call } from './refusals.js';

/** The pause after a refused key: only an operator can end this, and the health check notices it. */
const CREDENTIALS_PAUSE_MS = 60_000;

/** The data of a success. `meta` has the position of a page. */
export type Data = { data: unknown; meta: unknown };

/** An answer about an instruction, read from the data of a success. */
type Reading<State> = (found: Data) => State;

/** An HTTP request with the name of its call, which chooses the table of refusals. */
type PaystackRequest = ProviderRequest & { call: Call };

/** Makes calls to Paystack. */
export type PaystackClient = ReturnType<typeof createPaystackClient>;

/**
 * Creates the client of Paystack. Each call is one HTTP request. It sorts the answer by its envelope and its refusal by
 * the table of the call; only the reading of a success can report that something was done.
 */
export function createPaystackClient({
  url,
  keys,
  timeoutMs,
}: Pick<PaystackSettings, 'url' | 'keys' | 'timeoutMs'>) {
  const headers = { authorization: `Bearer ${keys[0] ?? ''}` };
  const http = createProviderHttp({ url, headers, timeoutMs });

  async function exchange(request: PaystackRequest, signal: AbortSignal) {
    const { call: _call, ...sent } = request;
    const reply = await http(sent, signal);
    return {
      trace: { providerRequestId: reply.requestId },
      envelope: envelopeOf(reply, new Date()),
    };
  }

  return {
    /** A request that may have an effect. */
    async submit<State>(
      request: PaystackRequest,
      signal: AbortSignal,
      read: Reading<State>,
    ): Promise<Trace & (State | Rejected | NotNow | Unknown)> {
      const { trace, envelope } = await exchange(request, signal);
      if (envelope.kind === 'done') return { ...trace, ...read(envelope) };
      return { ...trace, ...refusalOf(request.call, envelope) };
    },

    /** A question, which a repeat may ask again. */
    async verify<State>(
      request: PaystackRequest,
      signal: AbortSignal,
      read: Reading<State>,
    ): Promise<Trace & (State | NotFound | Unknown)> {
      const { trace, envelope } = await exchange(request, signal);
      if (envelope.kind === 'done') return { ...trace, ...read(envelope) };
      if (envelope.kind === 'refused') {
        const meaning = meaningOf(request.call, envelope);
        if (meaning.kind === 'not_found') return { ...trace, ...meaning };
      }
      return { ...trace, ...silenceOf(request.call, envelope) };
    },

    /** As `submit`, of a request whose object may be gone already. */
    async remove<State>(
      request: PaystackRequest,
      signal: AbortSignal,
      read: Reading<State>,
    ): Promise<Trace & (State | NotFound | Rejected | NotNow | Unknown)> {
      const { trace, envelope } = await exchange(request, signal);
      if (envelope.kind === 'done') return { ...trace, ...read(envelope) };
      if (envelope.kind === 'refused') {
        const meaning = meaningOf(request.call, envelope);
        if (meaning.kind === 'not_found') return { ...trace, ...meaning };
      }
      return { ...trace, ...refusalOf(request.call, envelope) };
    },
  };
}

type NoAnswer = { kind: 'none'; reason: Unknown['reason'] };
type Sorted = Envelope | NoAnswer;

const envelopeOf = (reply: Reply, now: Date): Sorted =>
  reply.kind === 'none' ? { kind: 'none', reason: reply.reason } : readEnvelope(reply, now);

type Refused = Exclude<Sorted, { kind: 'done' }>;
type Faulty<Answer> = Answer & Pick<Trace, 'fault'>;

/** The answer to a request that was not carried out, or of which that is not known. */
function refusalOf(call: Call, envelope: Refused): Faulty<Rejected | NotNow | Unknown> {
  switch (envelope.kind) {
    case 'none':
      return { kind: 'unknown', reason: envelope.reason };
    case 'unreadable':
      return { kind: 'unknown', reason: 'unreadable' };
    case 'throttled':
      return { kind: 'throttled', retryAfterMs: envelope.afterMs };
    case 'credentials':
      return {
        kind: 'rejected_temporarily',
        reason: 'suspended',
        afterMs: CREDENTIALS_PAUSE_MS,
        fault: 'credentials',
      };
    case 'refused': {
      const meaning = meaningOf(call, envelope);
      const isUnknown = meaning.kind === 'unknown' && meaning.reason === 'unrecognized';
      return isUnknown || meaning.kind === 'not_found' ? unrecognized(envelope) : meaning;
    }
  }
}

/** A code that Paystack gives to refusals of any kind. */
const ANY_REFUSAL = 'unknown';

/**
 * The name of a refusal that is in no table, by which operators are called once for each: its code, or else a hash of its text
 * without the figures. The text itself may name a customer.
 */
function nameOf({ code, text }: Pick<Refusal, 'code' | 'text'>): string {
  const { word } = wordOf(code);
  if (word !== undefined && word !== ANY_REFUSAL) return word;
  const hash = createHash('sha256').update(text.replaceAll(/[0-9]+/g, '#'));
  return `text_${hash.digest('hex').slice(0, 8)}`;
}

const unrecognized = (refusal: Pick<Refusal, 'code' | 'text'>) =>
  ({ kind: 'unknown', reason: 'unrecognized', word: nameOf(refusal) }) as const;

/** The answer to a question that was not answered. A refusal proves nothing about the instruction. */
function silenceOf(call: Call, envelope: Refused): Faulty<Unknown> {
  const answer = refusalOf(call, envelope);
  if (answer.kind === 'unknown') return answer;
  const fault = 'fault' in answer && answer.fault !== undefined ? { fault: answer.fault } : {};
  if (answer.kind === 'throttled') return { kind: 'unknown', reason: 'throttled', ...fault };
  const known = { kind: 'unknown', reason: 'unrecognized', ...fault } as const;
  return envelope.kind === 'refused' ? { ...known, ...unrecognized(envelope) } : known;
}

/** A body that the reader of its call cannot read. */
export const unreadable = () => ({ kind: 'unknown', reason: 'unreadable' }) as const;

/** An answer about another instruction or currency. */
const mismatch = () => ({ kind: 'unknown', reason: 'mismatch' }) as const;

/**
 * The answer about a record of the other environment, which means that our key belongs to it; null for a record of ours, and
 * for one that names no environment.
 */
export const otherEnvironment = (
  theirs: string | null | undefined,
  domain: string,
): Faulty<Unknown> | null =>
  theirs != null && theirs !== domain ? { ...mismatch(), fault: 'environment' } : null;

/** Tells whether an answer is about this instruction: null, or the reason why it is not. */
export function mismatchOf(
  found: { reference: string; currency?: string; domain?: string | null | undefined },
  expected: { reference: string; domain: string },
): Faulty<Unknown> | null {
  const elsewhere = otherEnvironment(found.domain, expected.domain);
  if (elsewhere) return elsewhere;
  const isOther = found.currency !== undefined && found.currency !== 'NGN';
  return found.reference !== expected.reference || isOther ? mismatch() : null;
}

/** A list is always there, and so is what a call has just made: "not found" is no answer about it. */
export const withoutAbsence = <Answer extends { kind: string }>(
  answer: Answer,
): Exclude<Answer, { kind: 'not_found' }> | (Omit<Answer, 'kind'> & Unknown) =>
  answer.kind === 'not_found'
    ? { ...answer, kind: 'unknown', reason: 'unreadable' }
    : (answer as Exclude<Answer, { kind: 'not_found' }>);
