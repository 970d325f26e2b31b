import { z } from 'zod';
import { plain } from './fields.js';

/** The environment that a key belongs to, in Paystack's word. */
export type Domain = 'test' | 'live';

/** An HTTP answer, as the client returns it. */
type HttpAnswer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
};

/** A refusal in Paystack's envelope, with its texts in the form of the tables. */
export type Refusal = { kind: 'refused'; status: number; code: string; text: string };

/** An answer of Paystack, sorted by its envelope. */
export type Envelope =
  | { kind: 'done'; data: unknown; meta: unknown }
  | Refusal
  | { kind: 'throttled'; afterMs: number }
  /** The key is not accepted. */
  | { kind: 'credentials' }
  | { kind: 'unreadable' };

const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60 * 60 * 1000;
/** A greater number of seconds is a time stamp. */
const TIME_STAMP_FROM = 1_000_000_000;

/** `status` is a boolean, and the word `success` in one call. */
const envelope = z.object({
  status: z.union([z.boolean(), z.literal('success').transform(() => true)]),
  message: z.string().max(2_000).nullish(),
  code: z.string().max(100).nullish().catch(null),
  data: z.unknown().optional(),
  meta: z.unknown().optional(),
});

/** Texts that refuse the key, under any status. */
const KEY_REFUSED: ReadonlySet<string> = new Set([
  'invalid key',
  'no authorization header was found',
  'format is authorization bearer [secret key]',
  'authentication token expired',
  // The list of allowed addresses belongs to the key.
  'your ip address is not allowed to make this call',
]);

const THROTTLED: ReadonlySet<string> = new Set(['please wait a few minutes and try again']);

/**
 * Sorts an answer by its envelope. A 200 does not mean that anything was done, and a 404 without an envelope says nothing
 * about the record.
 */
export function readEnvelope(answer: HttpAnswer, now: Date): Envelope {
  const parsed = envelope.safeParse(answer.body);
  const code = parsed.data?.code ?? '';
  const text = plain(parsed.data?.message);
  if (answer.status === 429 || code === 'rate_limited' || THROTTLED.has(text)) {
    return { kind: 'throttled', afterMs: pauseMs(answer, now) };
  }
  if (answer.status === 401 || KEY_REFUSED.has(text)) return { kind: 'credentials' };
  if (!parsed.success) return { kind: 'unreadable' };
  const { status, data, meta } = parsed.data;
  if (!status) return { kind: 'refused', status: answer.status, code, text };
  const isDone = answer.status >= 200 && answer.status < 300;
  return isDone ? { kind: 'done', data, meta } : { kind: 'unreadable' };
}

/** The pause that the answer names: seconds, or the time at which the window ends. */
function pauseMs({ headers }: HttpAnswer, now: Date): number {
  const value = (headers['x-ratelimit-reset'] ?? headers['retry-after'] ?? '').trim();
  if (!/^[0-9]{1,16}$/.test(value)) return MIN_PAUSE_MS;
  const ms = millisecondsOf(Number(value), now);
  return Math.max(MIN_PAUSE_MS, Math.min(ms, MAX_PAUSE_MS));
}

function millisecondsOf(reset: number, now: Date): number {
  if (reset < TIME_STAMP_FROM) return reset * 1_000;
  const at = reset < TIME_STAMP_FROM * 1_000 ? reset * 1_000 : reset;
  return at - now.getTime();
}
