import { randomUUID } from 'node:crypto';
import { order, type Reply } from '../../support/tenant.js';
import {
  OUTCOMES,
  PAID,
  REFUSED,
  TRIES,
  UNANSWERED,
  type Case,
  type Outcome,
} from './capability.js';
import type { TenantRequest, Death, Cluster } from './cluster.js';
import { isRight, PATH } from './transfers.js';
import { diedAlone, diedInMicroBatch, heldUp, putOff, submitsLocally } from './micro-batches.js';

/** So many that some are in the batch that is committed and others wait for the next one. */
const MANY = 24;
/** So few that all of a micro-batch are on their way at once, and none of them is overdue before. */
const A_MICRO_BATCH = 8;

/** Asks for so many new ones at once. */
type PostMore = () => Promise<(Reply | null)[]>;
/** `ask`: how they are asked for, and what is done with them while nobody has come back. */
type Together = { count: number; ask: (postMore: PostMore) => Promise<unknown> };

/** So many at once, and who dies of them. Whoever was answered then gets the same answer again; answers their ids. */
async function together(
  cluster: Cluster,
  death: Death,
  outcome: Outcome,
  { count, ask }: Together,
): Promise<string[]> {
  const all: TenantRequest[] = [];
  const first: (Reply | null)[] = [];
  async function postMore() {
    const more = Array.from({ length: count }, () => ({
      path: PATH,
      body: order(outcome.suffix),
      key: randomUUID(),
    }));
    all.push(...more);
    const replies = await Promise.all(more.map((one) => cluster.post(one).catch(() => null)));
    first.push(...replies);
    return replies;
  }
  await cluster.dies([death], () => ask(postMore));
  const again = await Promise.all(all.map((one) => cluster.post(one)));
  for (const [i, { status, text }] of again.entries()) {
    expect(status).toBe(201);
    expect(text).toBe(first[i]?.text ?? text);
  }
  const ids = again.map(({ body }) => body.data.id);
  expect(new Set(ids).size).toBe(all.length);
  for (const id of ids) await isRight(cluster, id, outcome);
  await cluster.isQuiet();
  return ids;
}

/** A fast machine may read all of them before it commits the first: then none waits, and more are asked for. */
const accepted = (point: string, outcome: Outcome): Case => ({
  name: `${MANY} transfers at once, ${outcome.name}: the API dies at ${point}`,
  async run(cluster) {
    async function ask(postMore: PostMore) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        if ((await postMore()).includes(null)) return;
      }
    }
    await together(cluster, { who: 'api', point }, outcome, { count: MANY, ask });
  },
});

/**
 * Let out by one workflow. Its turn is tried again when it has run out; with the short times here the dispatcher would be
 * there before, unless it is kept from it. On a slow machine some may set out alone all the same, or be handed on: where
 * the worker died for one of those, it is done again. What others are started by is the micro-batch alone.
 */
const microBatchDies = (
  point: string,
  outcome: Outcome,
  by: 'micro-batch' | 'dispatcher' = 'micro-batch',
): Case => ({
  name: `${A_MICRO_BATCH} transfers in a micro-batch, ${outcome.name}: the worker dies at ${point}, the ${by} goes on`,
  async run(cluster) {
    async function ask(postMore: PostMore) {
      const replies = await heldUp(cluster, postMore);
      const ids = replies.map((reply) => String(reply?.body.data.id));
      if (by === 'micro-batch') await putOff(cluster, ids);
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      await submitsLocally(cluster);
      const death = { who: 'worker', point } as const;
      const ids = await together(cluster, death, outcome, { count: A_MICRO_BATCH, ask });
      const alone = !point.startsWith('start.') && (await diedAlone(cluster, ids));
      if (!alone && (await diedInMicroBatch(cluster, ids))) return;
    }
    throw new Error(`sent ${TRIES} times, and the worker never died in a micro-batch`);
  },
});

// The third, so that some have come as far before it and some have not.
const SENT = ['submit.permitted:3', 'submit.answered:3'];
const SETTLED = [...SENT, 'outcome.before:3', 'outcome.after:3'];
/** Many in one: of the permissions with which they go out, and of their ends. */
const COMMITS = [
  'commit.before',
  'commit.after',
  'outcome.before:3>commit.before',
  'outcome.before:3>commit.after',
];
/** Nothing is settled in a micro-batch that heard nothing: each transfer is handed on to a workflow of its own. */
const HANDED_ON = [...SENT, 'start.before', 'start.after', 'start.after:3'];

export const manyTransfers: Case[] = [
  ...OUTCOMES.map((outcome) => accepted('batch.answered', outcome)),
  ...['claim.written', 'commit.before', 'commit.after'].map((point) => accepted(point, PAID)),
  ...[PAID, REFUSED].flatMap((outcome) =>
    [...SETTLED, ...COMMITS].map((point) => microBatchDies(point, outcome)),
  ),
  ...HANDED_ON.map((point) => microBatchDies(point, UNANSWERED)),
  ...OUTCOMES.map((outcome) => microBatchDies('submit.answered:3', outcome, 'dispatcher')),
];
