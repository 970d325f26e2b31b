import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Workload, WorkloadFactory } from './workload.js';
import { createBillPayments } from './workloads/bill-payments.js';
import { createCardDisputes } from './workloads/card-disputes.js';
import { createCards } from './workloads/cards.js';
import { createCharges } from './workloads/charges.js';
import { createDeposits } from './workloads/deposits.js';
import { createIdentityChecks } from './workloads/identity-checks.js';
import { createMessages } from './workloads/messages.js';
import { createRefunds } from './workloads/refunds.js';
import { createReplays } from './workloads/replays.js';
import { createSavedMethods } from './workloads/saved-methods.js';
import { createTransfers } from './workloads/transfers.js';
import { createVirtualAccounts } from './workloads/virtual-accounts.js';
import { createWallets } from './workloads/wallets.js';
import { check } from './checker.js';
import { startClients, startReaders } from './clients.js';
import { countForwarded } from './forwarded.js';
import { keepArtifacts } from './artifacts.js';
import { startNemesis, type InjectedFault } from './nemesis.js';
import { createOperators } from './operators.js';
import { resumedWork, waitForQuiescence } from './quiescence.js';
import { createRandom } from './random.js';
import { openCluster, type ChaosCluster } from './cluster.js';

const { env } = process;
const SEED = Number(env['CHAOS_SEED'] ?? '1');
const MINUTES = Number(env['CHAOS_MINUTES'] ?? '3');
const LONG_FREEZES = env['CHAOS_LONG_FREEZES'] === 'true';
/** With an odd seed, a page whose address is lost is followed by another one, and both may be paid. */
const PAGES = SEED % 2 === 1 ? 'new_reference' : 'repeatable';
/** Folder of a build that runs instead of dist/, and file for the checker's result: see chaos-seeded-bugs.mjs. */
const DIST = env['CHAOS_DIST'];
const ENV = JSON.parse(env['CHAOS_ENV'] ?? '{}') as Record<string, string>;
const RESULT = env['CHAOS_RESULT'];
/** Names of the workloads that take part; all of them by default. */
const ONLY = env['CHAOS_ONLY']?.split(',') ?? [];
const CLIENTS = Number(env['CHAOS_CLIENTS'] ?? '56');
const READERS = 3;
/** Open work that has not decreased for this long is stuck. A slow machine may take longer in total. */
const STUCK_AFTER_MS = 1_000 * Number(env['CHAOS_STUCK_SECONDS'] ?? '180');
/** Runs of eight minutes and more are those of docs/reliability.md, and must reach the figures that it guarantees. */
const IS_LONG = MINUTES >= 8;
const GOALS = { kills: 120, transfers: 3_000 };
/** Mutations that one API must have committed for another one in each minute: fewer mean that they do not forward. */
const FORWARDED_PER_MINUTE = 10;
/** Time without open work after which the run is over. */
const QUIET_MS = IS_LONG ? 60_000 : 15_000;
/** Longest extension of a run that has not had all its faults and rare events yet, as on a slow machine. Faults continue meanwhile. */
const LONGER_AT_MOST_MS = (IS_LONG ? MINUTES : 2) * 60_000;
/** Time for which the store refuses all outcomes: up to four minutes in a long run. */
const REFUSED_FOR_MS = [
  Math.min(MINUTES * 18_000, 120_000),
  Math.min(MINUTES * 30_000, 240_000),
] as const;
/** Time limit of the run. It ends before jest's own limit, at which no artifacts would be kept. */
const AT_MOST_MS = (MINUTES + 25) * 60_000 + LONGER_AT_MOST_MS;
const TO_KEEP_MS = 5 * 60_000;
const MOST_PRINTED = 20;
/** The workloads of the random-fault run. A new capability adds its workload here. */
const WORKLOADS: readonly WorkloadFactory[] = [
  createTransfers,
  createCards,
  createCharges,
  createRefunds,
  createBillPayments,
  createReplays,
  createMessages,
  createWallets,
  createIdentityChecks,
  createVirtualAccounts,
  createDeposits,
  createCardDisputes,
  // Its recurring charges need some minutes, and its share of the requests would be missing elsewhere in a short run.
  ...(IS_LONG ? [createSavedMethods] : []),
];

let cluster: ChaosCluster | undefined;
/** Figures, problems and faults of the run so far. */
const known: { figures: object; problems: object; acts: readonly InjectedFault[] } = {
  figures: { seed: SEED, minutes: MINUTES, clients: CLIENTS, only: ONLY },
  problems: [],
  acts: [],
};

beforeAll(async () => {
  cluster = await kept(() =>
    openCluster({ longFreezes: LONG_FREEZES, pages: PAGES, ...(DIST && { dist: DIST, env: ENV }) }),
  );
});

afterAll(async () => {
  await cluster?.close();
});

test(
  `a random-fault run of ${MINUTES} minutes, seed ${SEED}, loses no payment, pays none twice, leaves no work open and delivers every webhook`,
  () =>
    kept(async () => {
      const tooLong = sleep(AT_MOST_MS, 'too long', { ref: false });
      const ended = await Promise.race([proveAll(cluster as ChaosCluster), tooLong]);
      expect(ended).not.toBe('too long');
    }),
  AT_MOST_MS + TO_KEEP_MS,
);

/** Keeps the artifacts of a failed run. A run with a seeded bug is expected to fail, so its artifacts are not kept. */
async function kept<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (error) {
    if (!DIST) await keepArtifacts(`chaos-${SEED}`, { error: inspect(error), ...known }, cluster);
    throw error;
  }
}

async function proveAll(on: ChaosCluster): Promise<void> {
  const workloads = WORKLOADS.map((create, i) =>
    create(on, createRandom(SEED + 100 * (i + 1))),
  ).filter(({ name }) => ONLY.length === 0 || ONLY.includes(name));
  known.problems = Object.fromEntries(workloads.map(({ name, problems }) => [name, problems]));
  const { figures, late } = await runRandomFaults(on, workloads);
  const problems = [...late, ...(await check(on, workloads))];
  Object.assign(known, { figures: { ...figures, violations: problems.length }, problems });
  // The violations come first: a long log may be cut after them.
  if (problems.length > 0) console.error(problems.slice(0, MOST_PRINTED).join('\n'));
  console.log(JSON.stringify(known.figures));
  if (RESULT) writeFileSync(RESULT, JSON.stringify(known));
  expect(problems.slice(0, MOST_PRINTED)).toEqual([]);
  expectFaults(figures, on.links.length > 0);
}

type Injected = ReturnType<ReturnType<typeof startNemesis>['figures']> & {
  'forwarded mutations': number;
};
type Done = Record<string, Record<string, number>>;

/** Checks that enough faults were injected, and that every kind of rare event happened. */
function expectFaults(figures: Injected & { workloads: Done }, hasNetwork: boolean): void {
  expect(missingOf(figures, figures.workloads, hasNetwork)).toEqual([]);
}

/** The kinds of faults and of events that a run must have, and has not had often enough. */
function missingOf(injected: Injected, done: Done, hasNetwork: boolean): string[] {
  const moreThan: Partial<Record<keyof Injected, number>> = {
    kills: IS_LONG ? GOALS.kills - 1 : 5 * MINUTES,
    freezes: 0,
    ...(hasNetwork && { 'links disturbed': 0 }),
    'faults at the bank': 0,
    'refusing receivers': 0,
    'fail-overs of the bank': 0,
    'refused outcomes': 0,
    'refused for long': 0,
    // Transfers are what contends for the hot wallet.
    ...(done['transfers'] && { 'forwarded mutations': FORWARDED_PER_MINUTE * MINUTES }),
  };
  const faults = Object.entries(moreThan).filter(
    ([name, least]) => !(injected[name as keyof Injected] > least),
  );
  const transfers = done['transfers']?.['transfers'] ?? Infinity;
  const tooFew = IS_LONG && transfers < GOALS.transfers ? [`transfers: ${transfers}`] : [];
  return [...faults.map(([name]) => name), ...tooFew, ...unreadOf(done)];
}

/** Figures that must not be zero, because without them the run has not exercised a workload. */
const MUST = new Set([
  'transfers',
  'insufficient',
  'accepted',
  'approved',
  'cleared',
  'charges',
  'without_customer',
  'pages_paid',
  'charges_cancelled',
  'methods_saved',
  'tokens_deleted',
  'renewed_as_changed',
  'plans_cancelled',
  'refunds',
  'bills',
  'checks',
  'accounts',
  'deposits',
  'disputes',
  'replays',
  'unreadable',
  'pending_paid',
  'reversed_untold',
  'redelivered',
  'dry',
  'reads',
]);

const unreadOf = (workloads: Done): string[] =>
  Object.entries(workloads).flatMap(([name, did]) =>
    Object.entries(did).flatMap(([what, count]) =>
      MUST.has(what) && count === 0 ? [`${name}: ${what}`] : [],
    ),
  );

const figuresOf = (workloads: readonly Workload[]) =>
  Object.fromEntries(workloads.map((workload) => [workload.name, workload.figures()]));

/** Runs workloads and faults, then waits until no work is open, or work is stuck. `late` is work that opened again. */
async function runRandomFaults(on: ChaosCluster, workloads: readonly Workload[]) {
  for (const workload of workloads) await workload.prepare?.();
  const clients = startClients(on, workloads, createRandom(SEED), CLIENTS);
  const readers = startReaders(on, workloads, createRandom(SEED + 1), READERS);
  const nemesis = startNemesis(on, createRandom(SEED + 2), REFUSED_FOR_MS);
  known.acts = nemesis.acts;
  const forwarded = countForwarded(on);
  const injected = (): Injected => ({
    ...nemesis.figures(),
    'forwarded mutations': forwarded.answered(),
  });
  const operators = createOperators(on);
  await sleep(MINUTES * 60_000);
  const latest = performance.now() + LONGER_AT_MOST_MS;
  const isMissing = () =>
    missingOf(injected(), figuresOf(workloads), on.links.length > 0).length > 0;
  while (isMissing() && performance.now() < latest) await sleep(1_000);
  await nemesis.stop();
  const over = performance.now();

  // The checker reports work that is still open then.
  const ended = clients.stop();
  await Promise.race([ended, sleep(STUCK_AFTER_MS, undefined, { ref: false })]);
  for (const workload of workloads) await workload.settle?.();
  const { isQuiet, waited } = await waitForQuiescence(on, STUCK_AFTER_MS, () => operators.push());
  const quiet = performance.now();
  const late = isQuiet ? await resumedWork(on, QUIET_MS) : [];
  const repeated = await repeatAll(on, workloads);
  await ended;
  await readers.stop();
  await forwarded.stop();
  return {
    late,
    figures: {
      seed: SEED,
      minutes: MINUTES,
      network: on.links.length > 0 ? 'toxiproxy' : "the bank's switch only",
      ...injected(),
      workloads: figuresOf(workloads),
      ...operators.figures(),
      quiet_after_ms: Math.round(quiet - over),
      'open after the random-fault run': waited,
      'answers compared at the end': repeated,
    },
  };
}

/** Repeats every request. A client without an answer in time gives up and reports that. */
async function repeatAll(on: ChaosCluster, workloads: readonly Workload[]): Promise<number> {
  const patience = setTimeout(on.giveUp, STUCK_AFTER_MS);
  const repeated = await Promise.all(
    workloads.map(async (workload) => (await workload.repeat?.()) ?? 0),
  );
  clearTimeout(patience);
  on.giveUp();
  return repeated.reduce((sum, count) => sum + count, 0);
}
