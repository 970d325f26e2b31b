import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../../src/shared/concurrency.js';
import type { Reply } from '../../support/tenant.js';
import type { Random } from './random.js';
import type { ChaosCluster, ChaosTenant } from './cluster.js';

/** The final answer to a request: 2xx, or a refusal. `id` is that of the created resource. */
export type FinalAnswer = { status: number; text: string; id: string | null; code: string | null };

/** Stands for the answer of a client that waited until the end of the run. */
const GIVEN_UP: FinalAnswer = { status: 0, text: '', id: null, code: null };

const REPEATED_AT_ONCE = 8;

export type SentRequest<Body = Record<string, unknown>> = {
  of: ChaosTenant;
  /** POST by default. A DELETE is sent without its body. */
  method?: 'DELETE' | 'PATCH';
  path: string;
  body: Body;
  key: string;
  answer: FinalAnswer | null;
};

/** The id or reference under which a resource can be read. */
export const nameOf = (data: object): string => {
  const names = data as {
    id?: string;
    payment_token_id?: string;
    reference?: string;
    card_id?: string;
  };
  return String(names.id ?? names.reference ?? names.payment_token_id ?? names.card_id);
};

/** Temporary answers: the client repeats the request with its key. Every other answer is final, a 500 too. */
export const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Correct clients: each request has a key, and is repeated with it, at any API, until the answer is final. A repeat must
 * return the same bytes; a difference is added to `problems`.
 */
export function createRequests<Body extends object = Record<string, unknown>>(
  cluster: ChaosCluster,
  random: Random,
  problems: string[],
) {
  const sent: SentRequest<Body>[] = [];

  async function once(request: SentRequest<Body>): Promise<Reply | null> {
    const { of, method = 'POST', path, body, key } = request;
    const api = of.tenant.at(random.pick(cluster.service.apis).url);
    const content = method === 'DELETE' ? undefined : JSON.stringify(body);
    const reply = await api.call(method, path, content, { key }).catch(() => null);
    return reply === null || PASSING.has(reply.status) ? null : reply;
  }

  async function until(request: SentRequest<Body>): Promise<FinalAnswer> {
    while (cluster.isPatient()) {
      const reply = await once(request);
      if (reply) return recordAnswer(request, reply);
      await sleep(random.between(100, 600));
    }
    // The checker reports a request of the random-fault run that has no answer.
    return GIVEN_UP;
  }

  function recordAnswer(request: SentRequest<Body>, { status, text, body }: Reply): FinalAnswer {
    const answer = {
      status,
      text,
      id: body.success ? nameOf(body.data) : null,
      code: body.success ? null : body.error.code,
    };
    const first = (request.answer ??= answer);
    if (status >= 500) problems.push(`${request.key} was answered ${status}: ${text}`);
    if (first.text !== text || first.status !== status) {
      problems.push(`${request.key} was answered ${first.text}, and then ${text}`);
    }
    return first;
  }

  return {
    /** All requests, oldest first. A request without an answer is a violation. */
    sent,
    /** Returns the first final answer. One request in ten is sent twice at once; after one in ten an old one is repeated. */
    send: async (
      request: Pick<SentRequest<Body>, 'of' | 'method' | 'path' | 'body' | 'key'>,
    ): Promise<FinalAnswer> => {
      const one: SentRequest<Body> = { ...request, answer: null };
      sent.push(one);
      const twice = random.chance(0.1);
      const [answer] = await Promise.all(twice ? [until(one), until(one)] : [until(one)]);
      if (random.chance(0.1)) await until(random.pick(sent.filter((each) => each.answer)));
      return answer;
    },
    /** Repeats all requests when no work is open. The answers must be the same bytes as in the random-fault run. */
    repeat: async (): Promise<number> => {
      const answered = sent.filter(({ answer }) => answer && answer !== GIVEN_UP);
      await mapWithConcurrency(REPEATED_AT_ONCE, answered, async (one) => {
        if ((await until(one)) === GIVEN_UP) problems.push(`${one.key} is not answered again`);
      });
      return answered.length;
    },
  };
}
