import { LRUCache } from 'lru-cache';
import type { ProviderHttp, Reply } from '../http.js';
import { NO_TURN, type NotNow, type Trace } from '../port.js';
import type { PrepareAnswer, TransferProvider } from '../transfer-provider.js';
import { errorCode, readSubmitReply, unreadable } from './answers.js';
import { recipientAnswer, REFUSALS } from './wire.js';

const CACHE_ENTRIES = 10_000;
const CACHE_MS = 10 * 60 * 1000;
/** Pause before a submission that the balance did not cover. */
const FLOAT_PAUSE_MS = 1_000;

/** Creates the preparation of recipients. A recipient is the same for each of its transfers, so it is kept for a while. */
export function createPreparation(http: ProviderHttp): NonNullable<TransferProvider['prepare']> {
  const known = new LRUCache<string, string>({ max: CACHE_ENTRIES, ttl: CACHE_MS });
  return async ({ recipient: { account, bankCode }, takeTurn }, signal) => {
    const key = `${bankCode}/${account}`;
    const kept = known.get(key);
    if (kept !== undefined) return { kind: 'ready', handle: kept, providerRequestId: null };
    if (takeTurn && !(await takeTurn())) return NO_TURN;
    const body = { account, bank_code: bankCode };
    const answer = read(await http({ method: 'POST', path: '/v1/recipients', body }, signal));
    if (answer.kind === 'ready' && answer.handle !== null) known.set(key, answer.handle);
    return answer;
  };
}

function read(reply: Reply): PrepareAnswer {
  if (reply.kind === 'answer' && (reply.status === 422 || reply.status === 404)) {
    const code = REFUSALS.get(errorCode(reply.body));
    const providerRequestId = reply.requestId;
    if (code) return { kind: 'rejected', code, scope: 'request', providerRequestId };
  }
  return readSubmitReply(reply, (body) => {
    const parsed = recipientAnswer.safeParse(body);
    return parsed.success
      ? { kind: 'ready' as const, handle: parsed.data.recipient }
      : unreadable();
  });
}

/** Reads a refusal of a transfer that may be sent again; null for any other reply. */
export function readNotNow(reply: Reply): (Trace & NotNow) | null {
  if (reply.kind !== 'answer' || reply.status !== 422) return null;
  const trace = { providerRequestId: reply.requestId, kind: 'rejected_temporarily' as const };
  switch (errorCode(reply.body)) {
    case 'insufficient_float':
      return { ...trace, reason: 'float', afterMs: FLOAT_PAUSE_MS };
    case 'unknown_recipient':
      return { ...trace, reason: 'stale_handle', afterMs: 0 };
    default:
      return null;
  }
}
