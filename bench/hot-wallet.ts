/** Measures how many transfers one hot wallet accepts, with and without group commit. See docs/performance.md. */
import { createSubjects, type Run } from './hot-wallet-subjects.js';
import { openStack } from './stack.js';
import {
  interleave,
  isShort,
  median,
  oneDigit,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  warmUp,
  whole,
} from './support.js';

const CLIENTS = 64;
const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 1_000 : 3_000;
const WARM_UP_MS = isShort ? 300 : 3_000;

const NAMES = {
  plain: 'a plain transaction each',
  raw: 'journaled insertOne',
  store: 'store',
  concurrentOutcomes: 'store, with as many outcomes applied',
  http: 'HTTP, Temporal away',
  httpTemporal: 'HTTP, Temporal on the same cores',
  plainMany: '100 wallets: a plain transaction each',
  storeMany: '100 wallets: store',
};
type Name = keyof typeof NAMES;
type Results = Record<Name, Run[]>;

function print(results: Results): void {
  const names = Object.keys(NAMES) as Name[];
  const of = (name: Name, pick: (run: Run) => number) => median(results[name].map(pick));
  const processes = ['bench', 'load', 'api', 'mongod', 'applier', 'temporal'];
  const head = ['64 clients', 'accepted/s', 'p50 ms', 'p99 ms', 'applied/s'];
  const rows = names.map((name) => {
    const cpu = processes.map((process) =>
      of(name, (run) => (run.usedMs[process] ?? NaN) / run.loop.completed),
    );
    return [
      NAMES[name],
      whole(of(name, (run) => run.loop.perSecond)),
      oneDigit(of(name, (run) => run.loop.p50Ms)),
      oneDigit(of(name, (run) => run.loop.p99Ms)),
      name === 'concurrentOutcomes' ? whole(of(name, (run) => run.appliedPerSecond ?? NaN)) : '',
    ].concat(cpu.map((ms) => (Number.isNaN(ms) ? '' : ms.toFixed(2))));
  });
  printTable([...head, ...processes.map((name) => `${name} CPU ms`)], rows);
  const rates = (name: Name) => results[name].map((run) => run.loop.perSecond);
  const compare = (above: Name, below: Name, least: number) => ({
    what: `${NAMES[above]} / ${NAMES[below]}`,
    measured: ratioOf(rates(above), rates(below)),
    goal: { least },
  });
  printGoals([
    compare('store', 'plain', 20),
    compare('store', 'raw', 1),
    compare('http', 'raw', 0.5),
    compare('httpTemporal', 'raw', 0.5),
    compare('concurrentOutcomes', 'store', 0.8),
    compare('storeMany', 'plainMany', 1),
  ]);
}

const stack = await openStack();
try {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const { subjects, close } = await createSubjects(stack, { mongod, temporal });
  const paced = (forMs: number) =>
    Object.fromEntries(
      Object.entries(subjects).map(([name, run]) => [name, () => run({ clients: CLIENTS, forMs })]),
    ) as Record<Name, () => Promise<Run>>;
  await warmUp(paced(WARM_UP_MS));
  const results = await interleave(paced(FOR_MS), ROUNDS);
  printMachine({ MongoDB: mongod.version, 'Temporal CLI': temporal.version }, results);
  print(results);
  await close();
} finally {
  await stack.stop();
}
