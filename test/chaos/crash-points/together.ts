import { randomUUID } from 'node:crypto';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { forwardedMutations } from '../../../src/composition/capabilities.js';
import { createForwarding } from '../../../src/core/commit/forwarding.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { eventually } from '../../support/eventually.js';
import { transferBody, type Reply } from '../../support/tenant.js';
import {
  elsewhere,
  OUTCOMES,
  PAID,
  REFUSED,
  UNANSWERED,
  type Case,
  type Outcome,
} from './capability.js';
import { TRIES, type TenantRequest, type Death, type Cluster } from './cluster.js';
import { isRight, PATH } from './transfers.js';
import {
  diedAlone,
  diedInMicroBatch,
  heldUp,
  postpone,
  submitsLocally,
  workerDies,
} from './micro-batches.js';

/** Enough requests to fill one group commit and leave some for the next one. */
const MANY = 24;
/** Few enough to be submitted at once by one micro-batch, before any of them is overdue. */
const A_MICRO_BATCH = 8;
const CREDIT_MINOR = 1_000n;

/** Posts this many new transfers at once. */
type PostMore = () => Promise<(Reply | null)[]>;
/** `postTransfers` posts the transfers, and acts on them while the killed process is still down. */
type Together = { count: number; postTransfers: (postMore: PostMore) => Promise<unknown> };

/** Posts many transfers at once while a process dies. A repeat gets the saved response. Returns the transfers' ids. */
async function together(
  cluster: Cluster,
  death: Death,
  outcome: Outcome,
  { count, postTransfers }: Together,
): Promise<string[]> {
  const all: TenantRequest[] = [];
  const first: (Reply | null)[] = [];
  async function postMore() {
    const more = Array.from({ length: count }, () => ({
      path: PATH,
      body: transferBody(outcome.suffix),
      key: randomUUID(),
    }));
    all.push(...more);
    const replies = await Promise.all(more.map((one) => cluster.post(one).catch(() => null)));
    first.push(...replies);
    return replies;
  }
  await cluster.dies([death], () => postTransfers(postMore));
  const repeats = await Promise.all(all.map((one) => cluster.post(one)));
  for (const [i, { status, text }] of repeats.entries()) {
    expect(status).toBe(201);
    expect(text).toBe(first[i]?.text ?? text);
  }
  const ids = repeats.map(({ body }) => body.data.id);
  expect(new Set(ids).size).toBe(all.length);
  for (const id of ids) await isRight(cluster, id, outcome);
  await cluster.isQuiet();
  return ids;
}

/** A fast machine may read all of them before it commits the first; then none waits, and more are posted. */
const accepted = (point: string, outcome: Outcome): Case => ({
  name: `${MANY} transfers at once, ${outcome.name}: the API dies at ${point}`,
  async run(cluster) {
    async function postTransfers(postMore: PostMore) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        if ((await postMore()).includes(null)) return;
      }
      throw new Error(`posted ${TRIES} times, and none waited for another`);
    }
    await together(cluster, { who: 'api', point }, outcome, { count: MANY, postTransfers });
  },
});

/**
 * One workflow submits all transfers. Its activity is retried after a timeout; with the short times here the dispatcher
 * would act first, so its checks are postponed. On a slow machine some transfers may be submitted alone or scheduled as
 * own workflows: if the worker died for one of those, the case is repeated. Only the micro-batch starts the others.
 */
const microBatchDies = (
  point: string,
  outcome: Outcome,
  by: 'micro-batch' | 'dispatcher' = 'micro-batch',
): Case => ({
  name: `${A_MICRO_BATCH} transfers in a micro-batch, ${outcome.name}: the worker dies at ${point}, the ${by} goes on`,
  async run(cluster) {
    async function postTransfers(postMore: PostMore) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const replies = await heldUp(cluster, postMore);
        const ids = replies.map((reply) => String(reply?.body.data.id));
        if (!(await workerDies(cluster))) continue;
        if (by === 'micro-batch') await postpone(cluster, ids);
        return;
      }
      throw new Error(`posted ${TRIES} times, and the worker never died`);
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      await submitsLocally(cluster);
      const death = { who: 'worker', point } as const;
      const ids = await together(cluster, death, outcome, { count: A_MICRO_BATCH, postTransfers });
      const alone = !point.startsWith('start.') && (await diedAlone(cluster, ids));
      if (!alone && (await diedInMicroBatch(cluster, ids))) return;
    }
    throw new Error(`sent ${TRIES} times, and the worker never died in a micro-batch`);
  },
});

// The third passage, so that some transfers are past the point and some are not.
const SENT = ['submit.permitted:3', 'submit.answered:3'];
const OUTCOMES_APPLIED = [...SENT, 'outcome.before:3', 'outcome.after:3'];
/** Group commits with many mutations: those of the submit permits, and those of the outcomes. */
const COMMITS = [
  'commit.before',
  'commit.after',
  'outcome.before:3>commit.before',
  'outcome.before:3>commit.after',
];
/** A micro-batch without answers applies no outcome: each transfer is scheduled as a workflow of its own. */
const SCHEDULED = [...SENT, 'start.before', 'start.after', 'start.after:3'];

/** Credits of a contended wallet that this process hands to the API. Without an answer it commits them itself. */
const forwarded = (point: string): Case =>
  elsewhere(
    `${A_MICRO_BATCH} credits of a contended wallet: the API that commits them for another process dies at ${point}`,
    { BURSAR_INTERNAL_HOST: '127.0.0.1' },
    async (cluster) => {
      const { tenant, service } = cluster;
      const { commitProcesses, database, webhooks } = service.deps;
      const forwarding = createForwarding(commitProcesses, forwardedMutations);
      const engine = createGroupCommit(database, webhooks.outbox, () => false, forwarding);
      forwarding.conflicted([tenant.id]);
      await eventually('the API is known', () =>
        commitProcesses.committerOf(tenant.id) === null ? undefined : true,
      );
      const before = await tenant.balance();
      const references = Array.from({ length: A_MICRO_BATCH }, () => randomUUID());
      const creditAll = () =>
        Promise.all(
          references.map((reference) =>
            creditWallet(engine, { tenantId: tenant.id, amountMinor: CREDIT_MINOR, reference }),
          ),
        );
      await cluster.dies([{ who: 'api', point }], creditAll);
      await creditAll();
      const { available } = await tenant.balance();
      expect(available - before.available).toBe(A_MICRO_BATCH * Number(CREDIT_MINOR));
      await forwarding.close();
      await cluster.isQuiet();
    },
  );

export const manyTransfers: Case[] = [
  ...['forward.received', 'forward.committed'].map(forwarded),
  ...OUTCOMES.map((outcome) => accepted('batch.answered', outcome)),
  ...['claim.written', 'commit.before', 'commit.after'].map((point) => accepted(point, PAID)),
  ...[PAID, REFUSED].flatMap((outcome) =>
    [...OUTCOMES_APPLIED, ...COMMITS].map((point) => microBatchDies(point, outcome)),
  ),
  ...SCHEDULED.map((point) => microBatchDies(point, UNANSWERED)),
  ...OUTCOMES.map((outcome) => microBatchDies('submit.answered:3', outcome, 'dispatcher')),
];
