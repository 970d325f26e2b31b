import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { createCards } from './actors/cards.js';
import { createCharges } from './actors/charges.js';
import { createRefunds } from './actors/refunds.js';
import { createReplays } from './actors/replays.js';
import { check, nothingOpen } from './checker.js';
import { startClients, startReaders } from './clients.js';
import { createRandom } from './random.js';
import { openStage, type StormStage } from './stage.js';

const SEED = Number(process.env['STORM_SEED'] ?? '1');
const SECONDS = Number(process.env['CALM_SECONDS'] ?? '30');
const CLIENTS = 8;
const READERS = 2;
const QUIET_WITHIN_MS = 180_000;

let stage: StormStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(async () => {
  await stage?.close();
});

test('where nobody is killed, the checker finds nothing, and every actor has done what it is there for', async () => {
  const actors = [createCards, createCharges, createRefunds, createReplays].map((create, i) =>
    create(stage, createRandom(SEED + 100 * (i + 1))),
  );
  const clients = startClients(stage, actors, createRandom(SEED), CLIENTS);
  const readers = startReaders(stage, actors, createRandom(SEED + 1), READERS);
  await sleep(SECONDS * 1_000);
  await clients.stop();
  const isQuiet = async () => ((await nothingOpen(stage)).length === 0 ? true : undefined);
  await eventually('everything has come to its end', isQuiet, QUIET_WITHIN_MS).catch(() => {});
  await readers.stop();
  const figures = Object.fromEntries(actors.map((actor) => [actor.name, actor.figures()]));
  console.log(JSON.stringify(figures));
  expect(await check(stage, actors)).toEqual([]);
  for (const [name, of] of Object.entries(figures)) {
    expect([name, of['reads']]).toEqual([name, expect.any(Number)]);
    const idle = Object.entries(of).filter(([what, count]) => MUST.has(what) && count === 0);
    expect([name, idle]).toEqual([name, []]);
  }
});

/** What a calm without these has not shown. */
const MUST = new Set([
  'accepted',
  'approved',
  'cleared',
  'charges',
  'without_customer',
  'pages_paid',
  'refunds',
  'replays',
  'redelivered',
  'reads',
]);
