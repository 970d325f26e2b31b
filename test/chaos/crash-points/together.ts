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
import type { Asked, Death, Stage } from './cluster.js';
import { isRight, PATH } from './transfers.js';
import { diedAlone, diedInWave, heldUp, putOff, sendsHere } from './micro-batches.js';

/** So many that some are in the batch that is committed and others wait for the next one. */
const MANY = 24;
/** So few that all of a wave are on their way at once, and none of them is overdue before. */
const A_WAVE = 8;

/** Asks for so many new ones at once. */
type PostMore = () => Promise<(Reply | null)[]>;
/** `ask`: how they are asked for, and what is done with them while nobody has come back. */
type Together = { count: number; ask: (postMore: PostMore) => Promise<unknown> };

/** So many at once, and who dies of them. Whoever was answered then gets the same answer again; answers their ids. */
async function together(
  stage: Stage,
  death: Death,
  outcome: Outcome,
  { count, ask }: Together,
): Promise<string[]> {
  const all: Asked[] = [];
  const first: (Reply | null)[] = [];
  async function postMore() {
    const more = Array.from({ length: count }, () => ({
      path: PATH,
      body: order(outcome.suffix),
      key: randomUUID(),
    }));
    all.push(...more);
    const replies = await Promise.all(more.map((one) => stage.post(one).catch(() => null)));
    first.push(...replies);
    return replies;
  }
  await stage.dies([death], () => ask(postMore));
  const again = await Promise.all(all.map((one) => stage.post(one)));
  for (const [i, { status, text }] of again.entries()) {
    expect(status).toBe(201);
    expect(text).toBe(first[i]?.text ?? text);
  }
  const ids = again.map(({ body }) => body.data.id);
  expect(new Set(ids).size).toBe(all.length);
  for (const id of ids) await isRight(stage, id, outcome);
  await stage.isQuiet();
  return ids;
}

/** A fast machine may read all of them before it commits the first: then none waits, and more are asked for. */
const accepted = (point: string, outcome: Outcome): Case => ({
  name: `${MANY} transfers at once, ${outcome.name}: the API dies at ${point}`,
  async run(stage) {
    async function ask(postMore: PostMore) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        if ((await postMore()).includes(null)) return;
      }
    }
    await together(stage, { who: 'api', point }, outcome, { count: MANY, ask });
  },
});

/**
 * Let out by one workflow. Its turn is tried again when it has run out; with the short times here the dispatcher would be
 * there before, unless it is kept from it. On a slow machine some may set out alone all the same, or be handed on: where
 * the worker died for one of those, it is done again. What others are started by is the wave alone.
 */
const letOut = (point: string, outcome: Outcome, by: 'wave' | 'dispatcher' = 'wave'): Case => ({
  name: `${A_WAVE} transfers in a wave, ${outcome.name}: the worker dies at ${point}, the ${by} goes on`,
  async run(stage) {
    async function ask(postMore: PostMore) {
      const replies = await heldUp(stage, postMore);
      const ids = replies.map((reply) => String(reply?.body.data.id));
      if (by === 'wave') await putOff(stage, ids);
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      await sendsHere(stage);
      const death = { who: 'worker', point } as const;
      const ids = await together(stage, death, outcome, { count: A_WAVE, ask });
      const alone = !point.startsWith('start.') && (await diedAlone(stage, ids));
      if (!alone && (await diedInWave(stage, ids))) return;
    }
    throw new Error(`sent ${TRIES} times, and the worker never died in a wave`);
  },
});

// The third, so that some have come as far before it and some have not.
const SENT = ['send.permitted:3', 'send.answered:3'];
const SETTLED = [...SENT, 'settle.before:3', 'settle.after:3'];
/** Many in one: of the permissions with which they go out, and of their ends. */
const COMMITS = [
  'commit.before',
  'commit.after',
  'settle.before:3>commit.before',
  'settle.before:3>commit.after',
];
/** Nothing is settled in a wave that heard nothing: each transfer is handed on to a workflow of its own. */
const HANDED_ON = [...SENT, 'start.before', 'start.after', 'start.after:3'];

export const manyTransfers: Case[] = [
  ...OUTCOMES.map((outcome) => accepted('batch.answered', outcome)),
  ...['claim.written', 'commit.before', 'commit.after'].map((point) => accepted(point, PAID)),
  ...[PAID, REFUSED].flatMap((outcome) =>
    [...SETTLED, ...COMMITS].map((point) => letOut(point, outcome)),
  ),
  ...HANDED_ON.map((point) => letOut(point, UNANSWERED)),
  ...OUTCOMES.map((outcome) => letOut('send.answered:3', outcome, 'dispatcher')),
];
