import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { check } from './checker.js';
import { startClients, startReaders } from './clients.js';
import { startMonkey } from './monkey.js';
import { createRandom } from './random.js';
import { openStage, type StormStage } from './stage.js';

const SEED = Number(process.env['STORM_SEED'] ?? '1');
const MINUTES = Number(process.env['STORM_MINUTES'] ?? '3');
const CLIENTS = 12;
/** Everything has to come to its end within this after the last blow. */
const QUIET_WITHIN_MS = 180_000;

let stage: StormStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(async () => {
  await stage?.close();
});

test(`a storm of ${MINUTES} minutes, seed ${SEED}: nothing lost, nothing paid twice, nothing stuck, everybody told`, async () => {
  const clients = startClients(stage, createRandom(SEED), CLIENTS);
  const readers = startReaders(stage, createRandom(SEED + 1), clients.asked);
  const monkey = startMonkey(stage, createRandom(SEED + 2));
  await sleep(MINUTES * 60_000);
  await monkey.stop();
  await clients.stop();

  let problems: string[] = [];
  const isQuiet = async () => {
    problems = await check(stage, clients.asked);
    return problems.length === 0 ? true : undefined;
  };
  await eventually('everything has come to its end', isQuiet, QUIET_WITHIN_MS).catch(() => {});
  await readers.stop();
  problems.push(...clients.problems, ...readers.problems);

  const figures = {
    seed: SEED,
    minutes: MINUTES,
    requests: clients.asked.length,
    transfers: clients.asked.filter(({ answer }) => answer?.status === 201).length,
    refused: clients.asked.filter(({ answer }) => answer?.status !== 201).length,
    kills: monkey.kills(),
    reads: readers.reads(),
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
