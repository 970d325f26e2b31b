import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import type { ActorFactory } from './actor.js';
import { createTransfers } from './actors/transfers.js';
import { check, nothingOpen } from './checker.js';
import { startClients, startReaders } from './clients.js';
import { startMonkey } from './monkey.js';
import { createRandom } from './random.js';
import { openStage, type StormStage } from './stage.js';

const SEED = Number(process.env['STORM_SEED'] ?? '1');
const MINUTES = Number(process.env['STORM_MINUTES'] ?? '3');
const CLIENTS = 12;
const READERS = 3;
/** Everything has to come to its end within this after the last blow. */
const QUIET_WITHIN_MS = 180_000;
/** A capability is in the storm by a line here. */
const ACTORS: readonly ActorFactory[] = [createTransfers];

let stage: StormStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(async () => {
  await stage?.close();
});

test(`a storm of ${MINUTES} minutes, seed ${SEED}: nothing lost, nothing paid twice, nothing stuck, everybody told`, async () => {
  const actors = ACTORS.map((create, i) => create(stage, createRandom(SEED + 100 * (i + 1))));
  const clients = startClients(actors, createRandom(SEED), CLIENTS);
  const readers = startReaders(actors, createRandom(SEED + 1), READERS);
  const monkey = startMonkey(stage, createRandom(SEED + 2));
  await sleep(MINUTES * 60_000);
  await monkey.stop();
  const over = performance.now();
  await clients.stop();

  // What does not come to its end is found by the checker, with all else that is wrong.
  const isQuiet = async () => ((await nothingOpen(stage)).length === 0 ? true : undefined);
  await eventually('everything has come to its end', isQuiet, QUIET_WITHIN_MS).catch(() => {});
  const quietAfterMs = Math.round(performance.now() - over);
  await readers.stop();
  const problems = await check(stage, actors);

  const figures = {
    seed: SEED,
    minutes: MINUTES,
    kills: monkey.kills(),
    ...Object.fromEntries(actors.map((actor) => [actor.name, actor.figures()])),
    quiet_after_ms: quietAfterMs,
    violations: problems.length,
  };
  console.log(JSON.stringify(figures));
  if (problems.length > 0) await keep({ figures, problems, acts: monkey.acts });
  expect(problems.slice(0, 20)).toEqual([]);
  expect(figures.kills).toBeGreaterThan(10 * MINUTES);
});

/** What is needed to understand a failure: the seed, what was done, and the bank's journal. */
async function keep(what: object): Promise<void> {
  const folder = join('proof-failures', `storm-${SEED}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'storm.json'), JSON.stringify(what, null, 1));
  const journal = await stage.service.bank.journal();
  writeFileSync(join(folder, 'journal.json'), JSON.stringify(journal, null, 1));
  console.log(`kept in ${folder}`);
}
