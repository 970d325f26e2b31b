/** Compares the time from POST to completion with simpler designs that make the same call. See docs/performance.md. */
import { measureCpu } from './cpu.js';
import { startEngineSubjects } from './engine-subjects.js';
import { report, type Point } from './report.js';
import { openStack } from './stack.js';
import {
  closedLoop,
  interleave,
  isShort,
  median,
  oneDigit,
  openLoop,
  percentile,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  warmUp,
  type Loop,
} from './support.js';
import {
  createTransferSubjects,
  startAllInOne,
  type TransferSubject,
} from './transfer-subjects.js';

const IN_FLIGHT = isShort ? [16] : [1, 16, 64, 256];
/** Transfers a second of Bursar alone, on schedule: below the full load, few transfers share a workflow. */
const PER_SECOND = isShort ? [20] : [20, 40, 80];
const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 2_000 : 8_000;
const WARM_UP_MS = isShort ? 1_000 : 5_000;

type Run = { loop: Loop; usedMs: Record<string, number>; othersShare: number; postMs: number[] };

async function measured(
  { processes, act }: TransferSubject,
  loop: (act: () => Promise<unknown>) => Promise<Loop>,
): Promise<Run> {
  const postMs: number[] = [];
  const work = () => loop(() => act(postMs));
  const { result, ...cpu } = await measureCpu(processes, work);
  return { loop: result, ...cpu, postMs };
}

const perItem = (run: Run, process: string) => (run.usedMs[process] ?? NaN) / run.loop.completed;
const totalPerItem = (run: Run) =>
  Object.keys(run.usedMs).reduce((sum, process) => sum + perItem(run, process), 0);

function print(results: Record<string, Run[]>): void {
  const processes = ['client', 'api', 'worker', 'bank', 'mongod', 'temporal', 'engine'];
  const head = [
    'in flight, or a second',
    'completed/s',
    'p50 ms',
    'p99 ms',
    'POST p50 ms',
    'POST p99 ms',
  ];
  const rows = Object.entries(results).map(([name, runs]) => {
    const of = (pick: (run: Run) => number) => median(runs.map(pick));
    const figure = (value: number) => (Number.isNaN(value) ? '' : oneDigit(value));
    const figures = [
      of((run) => run.loop.perSecond),
      of((run) => run.loop.p50Ms),
      of((run) => run.loop.p99Ms),
      of((run) => percentile(run.postMs, 50)),
      of((run) => percentile(run.postMs, 99)),
      ...processes.map((process) => of((run) => perItem(run, process))),
      of(totalPerItem),
    ];
    return [name, ...figures.map(figure)];
  });
  printTable([...head, ...processes.map((name) => `${name} CPU ms`), 'CPU ms'], rows);
  printGoals(IN_FLIGHT.flatMap((clients) => goalsAt(results, clients)));
  report({ kind: 'points', points: pointsOf(results) });
}

/** The rows of the picture: every service at every number in flight. */
const pointsOf = (results: Record<string, Run[]>): Point[] =>
  Object.entries(results).flatMap(([name, runs]) => {
    const [service = '', load = ''] = name.split(', ');
    if (load.endsWith('/s')) return [];
    const of = (pick: (loop: Loop) => number) => median(runs.map(({ loop }) => pick(loop)));
    const perSecond = of((loop) => loop.perSecond);
    return [{ service, inFlight: Number(load), perSecond, p50Ms: of((loop) => loop.p50Ms) }];
  });

/**
 * Goals compare with services that survive a crash: the bare workflow and DBOS. Restate and the naive service, which loses
 * interrupted transfers, are shown for comparison; CPU has a goal against the naive service at 64 in flight.
 */
function goalsAt(results: Record<string, Run[]>, clients: number) {
  return ['ours', 'one process'].flatMap((subject) => goalsOf(results, subject, clients));
}

function goalsOf(results: Record<string, Run[]>, subject: string, clients: number) {
  const over = (peer: string, pick: (run: Run) => number) => {
    const of = (name: string) => (results[`${name}, ${clients}`] ?? []).map(pick);
    return of(peer).length === 0 ? null : ratioOf(of(subject), of(peer));
  };
  const perSecond = (run: Run) => run.loop.perSecond;
  const at = `${clients} in flight${subject === 'ours' ? '' : `, ${subject}`}`;
  const dbos =
    clients === 1
      ? {
          what: `p50 over DBOS, ${at}`,
          measured: over('dbos', (run) => run.loop.p50Ms),
          goal: { most: 4 },
        }
      : {
          what: `completed/s over DBOS, ${at}`,
          measured: over('dbos', perSecond),
          goal: { least: clients === 16 ? 0.8 : 1 },
        };
  return [
    dbos,
    { what: `completed/s over Restate, ${at}`, measured: over('restate', perSecond), goal: null },
    { what: `completed/s over bare, ${at}`, measured: over('bare', perSecond), goal: { least: 1 } },
    { what: `CPU over bare, ${at}`, measured: over('bare', totalPerItem), goal: { most: 1.3 } },
    { what: `completed/s over naive, ${at}`, measured: over('naive', perSecond), goal: null },
    {
      what: `CPU over naive, ${at}`,
      measured: over('naive', totalPerItem),
      goal: clients === 64 ? { most: 2 } : null,
    },
  ].flatMap(({ measured, ...goal }) => (measured === null ? [] : [{ ...goal, measured }]));
}

const stack = await openStack();
try {
  const most = Math.max(...IN_FLIGHT);
  const {
    subjects: own,
    versions,
    shared,
    engines: ownEngines,
    close,
  } = await createTransferSubjects(stack, most);
  const whole = { env: shared.env, processes: { ...shared.processes, ...ownEngines } };
  const allInOne = await startAllInOne(stack, whole, most);
  // CI installs neither Restate's server nor PostgreSQL.
  const engines = isShort ? {} : await startEngineSubjects(stack, shared, most);
  const subjects: Record<string, TransferSubject> = { ...own, ...allInOne.subjects, ...engines };
  const paced = (forMs: number) => {
    const rows: [string, () => Promise<Run>][] = [];
    for (const clients of IN_FLIGHT) {
      for (const [name, subject] of Object.entries(subjects)) {
        const run = () => measured(subject, (act) => closedLoop({ clients, forMs, act }));
        rows.push([`${name}, ${clients}`, run]);
      }
    }
    for (const rate of PER_SECOND) {
      const run = () => measured(own.ours, (act) => openLoop({ rate, forMs, act }));
      rows.push([`ours, ${rate}/s`, run]);
    }
    return Object.fromEntries(rows);
  };
  await warmUp(paced(WARM_UP_MS));
  const results = await interleave(paced(FOR_MS), ROUNDS);
  printMachine(versions, results);
  print(results);
  await allInOne.close();
  await close();
} finally {
  await stack.stop();
}
