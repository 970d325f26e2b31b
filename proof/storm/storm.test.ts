import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor, ActorFactory } from './actor.js';
import { createCards } from './actors/cards.js';
import { createCharges } from './actors/charges.js';
import { createRefunds } from './actors/refunds.js';
import { createReplays } from './actors/replays.js';
import { createTransfers } from './actors/transfers.js';
import { createWallets } from './actors/wallets.js';
import { check, countOpen } from './checker.js';
import { startClients, startReaders } from './clients.js';
import { startMonkey } from './monkey.js';
import { createOperators } from './operators.js';
import { createRandom } from './random.js';
import { openStage, type StormStage } from './stage.js';

const { env } = process;
const SEED = Number(env['STORM_SEED'] ?? '1');
const MINUTES = Number(env['STORM_MINUTES'] ?? '3');
const LONG_FREEZES = env['STORM_LONG_FREEZES'] === 'true';
/** A build that is run instead of dist/, and where what the checker says is written to: see crash-plants.mjs. */
const DIST = env['STORM_DIST'];
const RESULT = env['STORM_RESULT'];
/** Names of the actors that take part; all of them if none is named. */
const ONLY = env['STORM_ONLY']?.split(',') ?? [];
const CLIENTS = Number(env['STORM_CLIENTS'] ?? '56');
const READERS = 3;
/** Stuck is what does not become less for so long: a slow machine takes longer for all of it, and proves as much. */
const STUCK_AFTER_MS = 1_000 * Number(env['STORM_STUCK_SECONDS'] ?? '180');
/** A capability is in the storm by a line here. */
const ACTORS: readonly ActorFactory[] = [
  createTransfers,
  createCards,
  createCharges,
  createRefunds,
  createReplays,
  createWallets,
];

let stage: StormStage;

beforeAll(async () => {
  stage = await openStage({ longFreezes: LONG_FREEZES, ...(DIST && { dist: DIST }) });
});

afterAll(async () => {
  await stage?.close();
});

test(`a storm of ${MINUTES} minutes, seed ${SEED}: nothing lost, nothing paid twice, nothing stuck, everybody told`, async () => {
  const actors = ACTORS.map((create, i) =>
    create(stage, createRandom(SEED + 100 * (i + 1))),
  ).filter(({ name }) => ONLY.length === 0 || ONLY.includes(name));
  const { acts, figures } = await storm(actors);
  const problems = await check(stage, actors);
  const result = { figures: { ...figures, violations: problems.length }, problems, acts };
  console.log(JSON.stringify(result.figures));
  if (RESULT) writeFileSync(RESULT, JSON.stringify(result));
  else if (problems.length > 0) await keep(result);
  expect(problems.slice(0, 20)).toEqual([]);
  // What shows that there was a storm, and that it was not over before anything had happened.
  expect(figures.kills).toBeGreaterThan(5 * MINUTES);
  expect(figures.freezes).toBeGreaterThan(0);
  expect(figures.actors['transfers']?.['insufficient']).toBeGreaterThan(0);
  for (const [name, did] of Object.entries(figures.actors)) {
    const idle = Object.entries(did).filter(([what, count]) => MUST.has(what) && count === 0);
    expect([name, idle]).toEqual([name, []]);
  }
});

/** What a storm without these has not shown. */
const MUST = new Set([
  'transfers',
  'accepted',
  'approved',
  'cleared',
  'charges',
  'without_customer',
  'pages_paid',
  'refunds',
  'replays',
  'redelivered',
  'dry',
  'reads',
]);

/** Until everything is quiet again, or is stuck. */
async function storm(actors: readonly Actor[]) {
  const clients = startClients(stage, actors, createRandom(SEED), CLIENTS);
  const readers = startReaders(stage, actors, createRandom(SEED + 1), READERS);
  const monkey = startMonkey(stage, createRandom(SEED + 2));
  const operators = createOperators(stage);
  await sleep(MINUTES * 60_000);
  await monkey.stop();
  const over = performance.now();

  // What does not come to its end is found by the checker, with all else that is wrong.
  const ended = clients.stop();
  await Promise.race([ended, sleep(STUCK_AFTER_MS, undefined, { ref: false })]);
  const waited = await untilQuiet(async () => operators.push());
  const quiet = performance.now();
  // Who is not answered by then gives up, and says so.
  const patience = setTimeout(stage.giveUp, STUCK_AFTER_MS);
  const repeated = await Promise.all(actors.map(async (actor) => (await actor.repeat?.()) ?? 0));
  clearTimeout(patience);
  stage.giveUp();
  await ended;
  await readers.stop();
  return {
    acts: monkey.acts,
    figures: {
      seed: SEED,
      minutes: MINUTES,
      network: stage.links.length > 0 ? 'toxiproxy' : "the bank's switch only",
      ...monkey.figures(),
      actors: Object.fromEntries(actors.map((actor) => [actor.name, actor.figures()])),
      ...operators.figures(),
      quiet_after_ms: Math.round(quiet - over),
      'open after the storm': waited,
      'answers compared at the end': repeated.reduce((sum, count) => sum + count, 0),
    },
  };
}

/** Until nothing is open, or what is open becomes no less. Answers what was open meanwhile, by seconds. */
async function untilQuiet(push: () => Promise<void>): Promise<Record<string, object>> {
  const waited: Record<string, object> = {};
  const began = performance.now();
  let fewest = Infinity;
  for (let since = began; performance.now() - since < STUCK_AFTER_MS;) {
    await push();
    const open = (await countOpen(stage)).filter(([, count]) => count > 0);
    const seconds = Math.floor((performance.now() - began) / 15_000) * 15;
    waited[`${seconds} s`] ??= Object.fromEntries(open);
    const sum = open.reduce((total, [, count]) => total + count, 0);
    if (sum === 0) break;
    if (sum < fewest) [fewest, since] = [sum, performance.now()];
    await sleep(1_000);
  }
  return waited;
}

/** What is needed to understand a failure: the seed, what was done, the bank's journal, the logs, what is open. */
async function keep(what: object): Promise<void> {
  const folder = join('proof-failures', `storm-${SEED}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: unknown) =>
    writeFileSync(join(folder, name), JSON.stringify(content, toText, 1));
  write('storm.json', what);
  write('journal.json', await stage.service.bank.journal());
  for (const name of ['transfers', 'card_operations', 'charges', 'refunds']) {
    const open = { $or: [{ due_at: { $type: 'date' } }, { status: /pending|processing/ }] };
    const records = stage.service.deps.database.db.collection(name).find(open as object);
    write(`${name}.json`, await records.limit(200).toArray());
  }
  cpSync(String(env['BURSAR_TEST_LOGS']), join(folder, 'logs'), { recursive: true });
  console.log(`kept in ${folder}`);
}

const toText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
