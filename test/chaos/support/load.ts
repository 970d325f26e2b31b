import { setTimeout as sleep } from 'node:timers/promises';
import { transferBody, type Reply, type TestTenant } from '../../support/tenant.js';

/** An attempt in flight has no answer and an infinite duration, so it never counts as in time. */
export type Attempt = { at: number; ms: number; status: number | 'no answer' };

/** Calls once. The attempt is recorded when it begins, so that a hanging call is counted. */
export async function timed(
  attempts: Attempt[],
  call: () => Promise<Reply>,
): Promise<Reply | null> {
  const attempt: Attempt = { at: performance.now(), ms: Infinity, status: 'no answer' };
  attempts.push(attempt);
  const reply = await call().catch(() => null);
  attempt.ms = performance.now() - attempt.at;
  if (reply) attempt.status = reply.status;
  return reply;
}

/** A request, its attempts, and its final answer, which is neither 429 nor 5xx. */
export type SentRequest = {
  tenant: TestTenant;
  body: ReturnType<typeof transferBody>;
  key: string;
  attempts: Attempt[];
  answer: Reply | null;
};

export type Load = ReturnType<typeof startLoad>;

/**
 * A steady load: transfers begin at a fixed rate, however long the others take. Clients are correct: each request has a
 * key and is repeated with it, at any API, until its answer is final.
 */
export function startLoad({
  tenants,
  urls,
  perSecond,
  suffixes = ['789'],
}: {
  /** A tenant that occurs twice gets twice the load. */
  tenants: readonly TestTenant[];
  urls: readonly string[];
  perSecond: number;
  suffixes?: readonly string[];
}) {
  const requests: SentRequest[] = [];
  const underWay = new Set<Promise<void>>();
  const going = { on: true, stopsAtOnce: false };
  let calls = 0;
  const nth = <T>(list: readonly T[], n: number) => list[n % list.length] as T;

  function attempt({ tenant, body, key, attempts }: SentRequest): Promise<Reply | null> {
    calls += 1;
    const client = tenant.at(nth(urls, calls));
    return timed(attempts, () => client.transfer(body, { key }));
  }

  async function sendUntilAnswered(request: SentRequest): Promise<void> {
    while (request.answer === null && !going.stopsAtOnce) {
      const reply = await attempt(request);
      if (reply && reply.status < 500 && reply.status !== 429) request.answer = reply;
      else await sleep(1_000 * Number(reply?.headers.get('retry-after') ?? 1));
    }
  }

  function begin(): void {
    const tenant = nth(tenants, requests.length);
    const body = transferBody(nth(suffixes, requests.length));
    const request: SentRequest = {
      tenant,
      body,
      key: `load ${body.reference}`,
      attempts: [],
      answer: null,
    };
    requests.push(request);
    const done = sendUntilAnswered(request).finally(() => underWay.delete(done));
    underWay.add(done);
  }

  const running = (async () => {
    const startedAt = performance.now();
    for (let count = 0; going.on; count += 1) {
      begin();
      await sleep(Math.max(0, startedAt + ((count + 1) * 1_000) / perSecond - performance.now()));
    }
  })();

  return {
    requests,
    accepted: () => requests.filter(({ answer }) => answer?.status === 201).length,
    /** Attempts that began in this span. Each has its outcome after `stop`. */
    attempts: (from: number, until = Infinity) =>
      requests.flatMap(({ attempts }) => attempts).filter(({ at }) => at >= from && at < until),
    /** Stops the load; open requests are not repeated. */
    end(): void {
      Object.assign(going, { on: false, stopsAtOnce: true });
    },
    /** Stops the load, and waits until each request has its answer. */
    async stop(): Promise<readonly SentRequest[]> {
      going.on = false;
      await running;
      await Promise.all(underWay);
      return requests;
    },
  };
}

export function countByStatus(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of attempts) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export const slowest = (attempts: readonly Attempt[]) =>
  Math.round(Math.max(0, ...attempts.map(({ ms }) => ms)));
