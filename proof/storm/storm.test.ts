import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import type { Actor, ActorFactory } from './actor.js';
import { createCards } from './actors/cards.js';
import { createCharges } from './actors/charges.js';
import { createRefunds } from './actors/refunds.js';
import { createReplays } from './actors/replays.js';
import { createTransfers } from './actors/transfers.js';
import { createWallets } from './actors/wallets.js';
import { check, nothingOpen } from './checker.js';
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
const CLIENTS = 12;
const READERS = 3;
/** Everything has to come to its end within this after the last blow. */
const QUIET_WITHIN_MS = 1_000 * Number(env['STORM_QUIET_SECONDS'] ?? '180');
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
  const actors = ACTORS.map((create, i) => create(stage, createRandom(SEED + 100 * (i + 1))));
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
});

/** Until everything is quiet again, or would be too late. */
async function storm(actors: readonly Actor[]) {
  const clients = startClients(actors, createRandom(SEED), CLIENTS);
  const readers = startReaders(actors, createRandom(SEED + 1), READERS);
  const monkey = startMonkey(stage, createRandom(SEED + 2));
  const operators = createOperators(stage);
  await sleep(MINUTES * 60_000);
  await monkey.stop();
  const over = performance.now();

  // What does not come to its end is found by the checker, with all else that is wrong.
  const isQuiet = async () => {
    await sleep(1_000);
    await operators.push();
    return (await nothingOpen(stage)).length === 0 ? true : undefined;
  };
  const ended = clients.stop();
  const quiet = ended.then(() =>
    eventually('everything has come to its end', isQuiet, QUIET_WITHIN_MS).catch(() => {}),
  );
  await Promise.race([quiet, sleep(QUIET_WITHIN_MS, undefined, { ref: false })]);
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
      quiet_after_ms: Math.round(performance.now() - over),
    },
  };
}

/** What is needed to understand a failure: the seed, what was done, and the bank's journal. */
async function keep(what: object): Promise<void> {
  const folder = join('proof-failures', `storm-${SEED}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'storm.json'), JSON.stringify(what, null, 1));
  const journal = await stage.service.bank.journal();
  writeFileSync(join(folder, 'journal.json'), JSON.stringify(journal, null, 1));
  console.log(`kept in ${folder}`);
}
