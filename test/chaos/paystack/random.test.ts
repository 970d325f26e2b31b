import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule } from '../../fakes/paystack/plans.js';
import type { ManagedProcess } from '../../support/processes.js';
import { startRehearsal, type Rehearsal } from '../../paystack/rehearsal.js';
import { createOperators, unlessBusy } from '../random-faults/operators.js';
import { QUIET_COUNTS } from '../random-faults/quiescence.js';
import { createRandom, type Random } from '../random-faults/random.js';
import { createAccountLoad, type AccountLoad } from './account-load.js';
import { violations } from './checks.js';
import { createLoad, REFUNDED, SCHEDULED, type Load } from './load.js';

const SEED = Number(process.env['CHAOS_SEED'] ?? '1');
const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? '3');
const CLIENTS = 6;
/** Clients of virtual accounts and identity checks. */
const ACCOUNT_CLIENTS = 4;
const MOST_PRINTED = 20;
/** Starts of a process before the run gives up. */
const STARTS = 5;
/** Time for acts that the run has not had yet. */
const LONGER_AT_MOST_MS = 120_000;
/** A transfer is submitted again a minute after its last request, so the open work may stay as it is for longer. */
const STUCK_AFTER_MS = 180_000;
/** Faults of single calls at Paystack, on top of those that the test values select. */
const RULES: FaultRule[] = [
  { call: 'any', fault: 'drop_after', probability: 0.05 },
  { call: 'any', fault: 'drop_before', probability: 0.03 },
  { call: 'any', fault: 'error_500', probability: 0.02 },
  { call: 'any', fault: 'error_500_after', probability: 0.03 },
  { call: 'any', fault: 'html', probability: 0.01 },
  { call: 'any', fault: 'hang', probability: 0.01 },
  { call: 'any', fault: 'throttle_seconds', probability: 0.01 },
  { call: 'any', fault: 'system_malfunction', probability: 0.01 },
];

let rehearsal: Rehearsal;
beforeAll(async () => {
  rehearsal = await startRehearsal({ stepMs: 500 }, {}, 2);
});
afterAll(() => rehearsal?.close());

/** Kills one process after another, and holds messages back at times: then they come in the reverse order, and twice. */
async function disturb(random: Random, untilMs: number): Promise<{ kills: number }> {
  const { api, workers } = rehearsal.service;
  let kills = 0;
  while (performance.now() < untilMs) {
    await sleep(random.between(2_000, 8_000));
    const victim = random.pick([api, ...workers]);
    rehearsal.fake.sendInDisorder();
    rehearsal.fake.pauseMessages(random.chance(0.3));
    await victim.kill();
    kills += 1;
    await sleep(random.between(0, 2_000));
    await startAgain(victim);
  }
  rehearsal.fake.pauseMessages(false);
  rehearsal.fake.setRules([]);
  return { kills };
}

/** Restarts a process as a supervisor does: one that ends because its database is slow is started again. */
async function startAgain(victim: ManagedProcess): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await victim.start();
    } catch (error) {
      if (tries === STARTS) throw error;
      await victim.kill();
    }
  }
}

/** A short run on a slow machine may lack a kind of act. Its clients make it afterwards, without faults. */
async function makeMissing(load: Load, accounts: AccountLoad): Promise<void> {
  const until = performance.now() + LONGER_AT_MOST_MS;
  while (leastOf(figuresOf(load, accounts)) === 0 && performance.now() < until) {
    await load.makeMissing();
    await accounts.makeMissing().catch(unlessBusy);
    await sleep(200);
  }
}

/** Counts what is not over: records, messages of Paystack that wait, its planned changes, and provider events. */
async function countOpen(accounts: AccountLoad): Promise<number> {
  const { db } = rehearsal.service.deps.database;
  const isOpen = { $in: ['pending', 'processing', 'requires_action'] };
  const payments = ['transfers', 'charges', 'refunds'];
  const records = [...payments, 'virtual_accounts', 'deposits', 'identity_checks'].map((name) =>
    db
      .collection(name)
      .countDocuments({ $or: [{ status: isOpen }, { next_check_at: { $type: 'date' } }] }),
  );
  const events = db.collection('provider_events').countDocuments({ status: 'received' });
  const isOver = { $nin: ['ended', 'cancelled'] };
  const recurring = db.collection('recurring_charges').countDocuments({ status: isOver });
  const counts = await Promise.all([...records, events, recurring, accounts.waiting()]);
  const { messagesWaiting, changesPlanned } = rehearsal.fake;
  return counts.reduce((sum, count) => sum + count, messagesWaiting() + changesPlanned());
}

/**
 * Waits until nothing is open, or open work has not decreased for long. Meanwhile customers pay the open pages, because
 * another one opens if the answer with its address was lost, and operators decide about refunds and returns that Paystack cannot
 * rule out, since it recognizes no repeat of them, and about money in suspense.
 */
async function settle(load: Load, accounts: AccountLoad): Promise<number> {
  const operators = createOperators(rehearsal);
  let fewest = Infinity;
  let quiet = 0;
  for (let since = performance.now(); performance.now() - since < STUCK_AFTER_MS;) {
    await load.payOpenPages();
    await accounts.settle().catch(unlessBusy);
    await operators.push();
    const open = (await countOpen(accounts).catch(unlessBusy)) ?? Infinity;
    quiet = open === 0 ? quiet + 1 : 0;
    if (quiet === QUIET_COUNTS) break;
    if (open < fewest) [fewest, since] = [open || Infinity, performance.now()];
    await sleep(1_000);
  }
  return operators.figures()['operators called'];
}

/** The counts of records that the clients have made. */
function figuresOf(load: Load, accounts: AccountLoad) {
  const accepted = load.asked.filter((each) => each.accepted);
  const of = (path: string) => accepted.filter((each) => each.path === path).length;
  return {
    transfers: of('/transfers'),
    charges: of('/payments/charges'),
    renewals: accepted.filter(({ reference }) => reference.startsWith('renewal-')).length,
    'scheduled renewals': of(SCHEDULED),
    refunds: of(REFUNDED),
    'virtual accounts': accounts.opened.filter((each) => each.accepted).length,
    deposits: accounts.paid.length,
    'returns by the operator': accounts.counts.returns,
    'identity checks': accounts.checks.length,
  };
}

/** The least of the figures that a run must have. Renewals on request are left to chance. */
const leastOf = (figures: ReturnType<typeof figuresOf>): number =>
  Math.min(...Object.values({ ...figures, renewals: Infinity }));

test(`a random-fault run of ${MINUTES} minutes at Paystack, seed ${SEED}, loses no payment, makes none twice and leaves no work open`, async () => {
  const features = { virtual_accounts: true, identity: true };
  const tenant = await rehearsal.service.tenant({ balanceMinor: 10_000_000_000, features });
  const load = createLoad(tenant, createRandom(SEED));
  const accounts = createAccountLoad(rehearsal, tenant, createRandom(SEED + 2));
  rehearsal.fake.setRules(RULES);
  const untilMs = performance.now() + MINUTES * 60_000;
  const clients = [
    ...Array.from({ length: CLIENTS }, () => load.run(untilMs)),
    ...Array.from({ length: ACCOUNT_CLIENTS }, () => accounts.run(untilMs)),
  ];
  const { kills } = await disturb(createRandom(SEED + 1), untilMs);
  await Promise.all(clients);
  await makeMissing(load, accounts);
  const called = await settle(load, accounts);
  const problems = await violations(rehearsal, load, accounts);
  const made = figuresOf(load, accounts);
  const figures = {
    seed: SEED,
    minutes: MINUTES,
    kills,
    ...made,
    calls: rehearsal.fake.requests.length,
    'operators called': called,
    violations: problems.length,
  };
  console.log(JSON.stringify(figures));
  expect(problems.slice(0, MOST_PRINTED)).toEqual([]);
  expect(Math.min(kills, leastOf(made))).toBeGreaterThan(0);
});
