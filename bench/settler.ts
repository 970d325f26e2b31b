/** Applies the outcome `succeeded` to transfers in a process of its own, like a worker. */
import { connectDatabase } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { createTransfers } from '../src/capabilities/transfers/store.js';
import { serveParent } from './child.js';

/** The messages that this process receives. */
export type SettlerQuestion =
  /** Makes these transfers ready for their outcomes: their requests count as submitted. */
  | { kind: 'prepare'; tenant: string; ids: string[] }
  /** Permits this many more outcomes. Not answered. */
  | { kind: 'settle'; count: number }
  /** Answered when all permitted outcomes are applied. */
  | { kind: 'finish' };
/** The counts since the last `finish`. */
export type SettlerAnswer = {
  /** Outcomes applied since the last `finish`. */
  settled: number;
  /** Outcomes permitted and not yet applied when `finish` arrived. */
  behind: number;
  /** Transfers prepared without a permitted outcome. */
  left: number;
};

/** The number of concurrent local activities of a worker. */
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
