/** Applies the outcome `succeeded` to transfers in a process of its own, like a worker. */
import { connectDatabase } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { createTransfers } from '../src/capabilities/transfers/store.js';
import { serveParent } from './child.js';

/** The messages that this process receives. */
export type ApplierQuestion =
  /** Makes these transfers ready for their outcomes: their requests count as submitted. */
  | { kind: 'prepare'; tenant: string; ids: string[] }
  /** Permits this many more outcomes. Not answered. */
  | { kind: 'apply'; count: number }
  /** Answered when all permitted outcomes are applied. */
  | { kind: 'finish' };
/** The counts since the last `finish`. */
export type ApplierAnswer = {
  /** Outcomes applied since the last `finish`. */
  applied: number;
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
const database = await connectDatabase({ uri, database: name }, 'bursar-bench-outcome-applier');
const transfers = createTransfers(database, createGroupCommit(database), STALL_TIMEOUT_MS);

const ready: { tenant: string; id: string }[] = [];
let permitted = 0;
let inFlight = 0;
let applied = 0;
let whenDone: () => void = () => undefined;

function pump(): void {
  while (inFlight < PARALLEL && permitted > 0 && ready.length > 0) {
    const next = ready.pop();
    if (!next) return;
    permitted -= 1;
    inFlight += 1;
    void applyOutcome(next);
  }
  if (inFlight === 0) whenDone();
}

async function applyOutcome({ tenant, id }: { tenant: string; id: string }): Promise<void> {
  const outcome = await transfers.applyFact(tenant, id, {
    kind: 'succeeded',
    via: 'provider_answer',
    actor: 'sandbox-bank',
    providerRequestId: null,
    note: null,
    amountMinor: null,
    sessionId: `bench-${id}`,
  });
  if (outcome.kind !== 'fact' || outcome.verdict !== 'applied') throw new Error('not applied');
  applied += 1;
  inFlight -= 1;
  pump();
}

async function prepare(tenant: string, ids: string[]): Promise<void> {
  const queue = [...ids];
  const client = async () => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      if (!(await transfers.acquireSubmitPermit({ tenantId: tenant, id, submissions: 0 })))
        throw new Error('not permitted');
      ready.push({ tenant, id });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, client));
}

async function finish(): Promise<ApplierAnswer> {
  const behind = Math.min(permitted + inFlight, ready.length + inFlight);
  await new Promise<void>((resolve) => {
    whenDone = resolve;
    pump();
  });
  const answer = { applied, behind, left: ready.length };
  whenDone = () => undefined;
  [applied, permitted] = [0, 0];
  return answer;
}

async function answer(question: ApplierQuestion): Promise<ApplierAnswer | null> {
  switch (question.kind) {
    case 'prepare':
      await prepare(question.tenant, question.ids);
      return { applied: 0, behind: 0, left: ready.length };
    case 'apply':
      permitted += question.count;
      pump();
      return null;
    case 'finish':
      return finish();
  }
}

serveParent((question) => answer(question as ApplierQuestion));
