import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../../src/shared/concurrency.js';
import type { Reply } from '../../support/tenant.js';
import type { Random } from './random.js';
import type { ChaosCluster, ChaosTenant } from './cluster.js';

/** The one answer that a request has got for good: 2xx, or a refusal. `id` is of what was made. */
export type FinalAnswer = { status: number; text: string; id: string | null; code: string | null };

/** Of who has waited until the end. */
const GIVEN_UP: FinalAnswer = { status: 0, text: '', id: null, code: null };

const REPEATED_AT_ONCE = 8;

export type SentRequest<Body = Record<string, unknown>> = {
  of: ChaosTenant;
  path: string;
  body: Body;
  key: string;
  answer: FinalAnswer | null;
};

/** What a resource is asked for by. */
export const nameOf = (data: object): string => {
  const names = data as { id?: string; payment_token_id?: string; reference?: string };
  return String(names.id ?? names.reference ?? names.payment_token_id);
};

/** These answers say nothing for good: the client comes again, with its key. Any other is one, also a 500. */
const PASSING = new Set([429, 502, 503, 504]);

/**
 * Clients as they should be: each request has a key, and is repeated with it, at any API, until it is answered for
 * good. Whatever is answered again must be the same bytes; if not, it is among `problems`.
 */
export function createRequests<Body extends object = Record<string, unknown>>(
  cluster: ChaosCluster,
  random: Random,
  problems: string[],
) {
  const asked: SentRequest<Body>[] = [];

  async function once({ of, path, body, key }: SentRequest<Body>): Promise<Reply | null> {
    const api = of.tenant.at(random.pick(cluster.service.apis).url);
    const reply = await api.call('POST', path, JSON.stringify(body), { key }).catch(() => null);
    return reply === null || PASSING.has(reply.status) ? null : reply;
  }

  async function until(request: SentRequest<Body>): Promise<FinalAnswer> {
    while (cluster.isPatient()) {
      const reply = await once(request);
      if (reply) return hear(request, reply);
      await sleep(random.between(100, 600));
    }
    // In the random-fault run, the checker finds the request unanswered.
    return GIVEN_UP;
  }

  function hear(request: SentRequest<Body>, { status, text, body }: Reply): FinalAnswer {
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
    /** All requests, in their order. One without an answer is a violation. */
    asked,
    /** The first answer for good. One in ten is sent twice at once; after one in ten an old one comes again. */
    ask: async (
      request: Pick<SentRequest<Body>, 'of' | 'path' | 'body' | 'key'>,
    ): Promise<FinalAnswer> => {
      const one: SentRequest<Body> = { ...request, answer: null };
      asked.push(one);
      const twice = random.chance(0.1);
      const [answer] = await Promise.all(twice ? [until(one), until(one)] : [until(one)]);
      if (random.chance(0.1)) await until(random.pick(asked.filter((each) => each.answer)));
      return answer;
    },
    /** All of it once more, when everything is quiet: the answers are the same bytes as in the random-fault run. */
    repeat: async (): Promise<number> => {
      const answered = asked.filter(({ answer }) => answer && answer !== GIVEN_UP);
      await mapWithConcurrency(REPEATED_AT_ONCE, answered, async (one) => {
        if ((await until(one)) === GIVEN_UP) problems.push(`${one.key} is not answered again`);
      });
      return answered.length;
    },
  };
}
