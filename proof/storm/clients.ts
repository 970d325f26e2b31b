import { setTimeout as sleep } from 'node:timers/promises';
import { order, type Reply } from '../../test/support/tenant.js';
import type { Random } from './random.js';
import type { StormStage, StormTenant } from './stage.js';

/** A request, and the one answer that it has got for good: 2xx, or a refusal. */
export type Asked = {
  of: StormTenant;
  body: ReturnType<typeof order>;
  key: string;
  answer: { status: number; text: string; id: string | null } | null;
};

/** How accounts end: the bank pays most at once; a fifth is answered in a way that leaves doubt. */
const PLAIN = ['789', '789', '789', '789', '789', '789', '001', '002'] as const;
const DOUBTFUL = ['004', '005', '007', '009', '010'] as const;

/** Clients as they should be: each request has a key, and is repeated with it until it is answered for good. */
export function startClients(stage: StormStage, random: Random, count: number) {
  const asked: Asked[] = [];
  const problems: string[] = [];
  const going = { on: true };

  const choose = (): Asked => {
    // A third of the load is on one wallet.
    const of = random.chance(0.3) ? stage.tenants[0] : random.pick(stage.tenants);
    const body = order(random.pick(random.chance(0.2) ? DOUBTFUL : PLAIN));
    return { of: of as StormTenant, body, key: `storm ${body.reference}`, answer: null };
  };

  async function once({ of, body, key }: Asked): Promise<Reply | null> {
    const api = random.pick(stage.service.apis);
    const reply = await of.tenant
      .at(api.url)
      .transfer(body, { key })
      .catch(() => null);
    return reply === null || reply.status >= 500 || reply.status === 429 ? null : reply;
  }

  /** Until it is answered; the same answer must come again. */
  async function ask(request: Asked): Promise<void> {
    for (;;) {
      const reply = await once(request);
      if (reply) {
        const { status, text, body } = reply;
        const answer = { status, text, id: status === 201 ? body.data.id : null };
        if (request.answer && (request.answer.text !== text || request.answer.status !== status)) {
          problems.push(`${request.key} was answered ${request.answer.text}, and then ${text}`);
        }
        request.answer ??= answer;
        return;
      }
      await sleep(random.between(100, 600));
    }
  }

  async function run(): Promise<void> {
    while (going.on) {
      const request = choose();
      asked.push(request);
      // Some are sent twice at once, some again later.
      await Promise.all(random.chance(0.1) ? [ask(request), ask(request)] : [ask(request)]);
      if (random.chance(0.1)) await ask(random.pick(asked.filter(({ answer }) => answer !== null)));
      await sleep(random.between(20, 200));
    }
  }

  const done = Promise.all(Array.from({ length: count }, run));
  done.catch(() => {});
  return {
    asked,
    problems,
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}

/** How far a transfer has come; what is read later must not be less. `failed` may follow `completed`: a reversal. */
const RANK: Record<string, number> = { pending: 0, processing: 1, completed: 2, failed: 3 };

/** Readers who look at what was accepted, at any API: what they have seen never goes back. */
export function startReaders(stage: StormStage, random: Random, asked: readonly Asked[]) {
  const seen = new Map<string, string>();
  const problems: string[] = [];
  const going = { on: true };
  let reads = 0;

  async function look(): Promise<void> {
    const known = asked.filter(({ answer }) => answer?.id);
    if (known.length === 0) return;
    // Rather what is under way than what is long over.
    const { of, answer } = random.pick(random.chance(0.8) ? known.slice(-200) : known);
    const id = String(answer?.id);
    const before = seen.get(id);
    const reader = of.tenant.at(random.pick(stage.service.apis).url);
    const found = await reader.get(id).catch(() => null);
    if (!found) return;
    reads += 1;
    if (before !== undefined && (RANK[found.status] ?? -1) < (RANK[before] ?? -1)) {
      problems.push(`${id} was ${before}, and then ${found.status}`);
    }
    if ((RANK[found.status] ?? -1) > (RANK[seen.get(id) ?? ''] ?? -1)) seen.set(id, found.status);
  }

  const done = (async () => {
    while (going.on) {
      await look();
      await sleep(20);
    }
  })();
  return {
    problems,
    reads: () => reads,
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}
