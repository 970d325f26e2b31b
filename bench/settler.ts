/** Settles transfers in a process of its own, as a worker does: the books as paid, through `applyFact`. */
import { connectDatabase } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { createTransfers } from '../src/capabilities/transfers/store.js';
import { serveParent } from './child.js';

export type SettlerQuestion =
  /** Makes these transfers ready to be settled: their orders count as sent. */
  | { kind: 'prepare'; tenant: string; ids: string[] }
  /** So many more may be settled now. Only told. */
  | { kind: 'settle'; count: number }
  /** Answers when all that was let in is settled. */
  | { kind: 'finish' };
export type SettlerAnswer = {
  /** Settled since the last `finish`. */
  settled: number;
  /** Let in and not yet settled when `finish` was asked. */
  behind: number;
  /** Prepared and never let in. */
  left: number;
};

/** As many as a worker has local activities at once. */
const PARALLEL = 200;
const STALL_TIMEOUT_MS = 30_000;

const uri = process.env['BENCH_MONGODB_URI'] ?? '';
const name = process.env['BENCH_DATABASE'] ?? '';
const database = await connectDatabase({ uri, database: name }, 'bursar-bench-settler');
const transfers = createTransfers(database, createGroupCommit(database), STALL_TIMEOUT_MS);

const ready: { tenant: string; id: string }[] = [];
let letIn = 0;
let inFlight = 0;
let settled = 0;
let whenDone: () => void = () => undefined;

function pump(): void {
  while (inFlight < PARALLEL && letIn > 0 && ready.length > 0) {
    const next = ready.pop();
    if (!next) return;
    letIn -= 1;
    inFlight += 1;
    void settle(next);
  }
  if (inFlight === 0) whenDone();
}

async function settle({ tenant, id }: { tenant: string; id: string }): Promise<void> {
  const outcome = await transfers.applyFact(tenant, id, {
    kind: 'succeeded',
    via: 'provider_answer',
    actor: 'sandbox-bank',
    providerRequestId: null,
    note: null,
    amountMinor: null,
    sessionId: `bench-${id}`,
  });
  if (outcome.kind !== 'fact' || outcome.verdict !== 'applied') throw new Error('not settled');
  settled += 1;
  inFlight -= 1;
  pump();
}

async function prepare(tenant: string, ids: string[]): Promise<void> {
  const queue = [...ids];
  const client = async () => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      if (!(await transfers.acquireSubmitPermit(tenant, id, 0, false)))
        throw new Error('not permitted');
      ready.push({ tenant, id });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, client));
}

async function finish(): Promise<SettlerAnswer> {
  const behind = Math.min(letIn + inFlight, ready.length + inFlight);
  await new Promise<void>((resolve) => {
    whenDone = resolve;
    pump();
  });
  const answer = { settled, behind, left: ready.length };
  whenDone = () => undefined;
  [settled, letIn] = [0, 0];
  return answer;
}

async function answer(question: SettlerQuestion): Promise<SettlerAnswer | null> {
  switch (question.kind) {
    case 'prepare':
      await prepare(question.tenant, question.ids);
      return { settled: 0, behind: 0, left: ready.length };
    case 'settle':
      letIn += question.count;
      pump();
      return null;
    case 'finish':
      return finish();
  }
}

serveParent((question) => answer(question as SettlerQuestion));
