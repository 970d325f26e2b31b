/**
 * Measures the polls of 200,000 open transfers at a bank with a known rate (`--short`: few): whether they stay within the
 * rate, come to the longest waiting first, and none expires in the queue; and whether intake is closed meanwhile. The
 * transfers are inserted as submitted and due, and none of their workflows runs, as after a loss of Temporal. A proxy
 * before the sandbox bank counts the calls and answers that each of these transfers is pending.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPolled } from '../devstack/temporal.js';
import { newTransfer } from '../src/capabilities/transfers/create.js';
import { transferWorkflowId, type Transfer } from '../src/capabilities/transfers/record.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { timelineEntry } from '../src/core/instructions/instruction.js';
import { connectDatabase, type Database } from '../src/platform/database/client.js';
import { createTemporal } from '../src/platform/temporal/client.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import { mapWithConcurrency } from '../src/shared/concurrency.js';
import type { Config } from '../src/shared/config.js';
import { measureCpu } from './cpu.js';
import { startPendingBank, type PendingBank } from './pending-bank.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  isShort,
  oneDigit,
  printGoals,
  printMachine,
  printTable,
  spreadOf,
  whole,
} from './support.js';
import { createRichTenant, transferBody } from './transfers.js';

const OPEN = isShort ? 400 : 200_000;
const WINDOW_MS = isShort ? 10_000 : 150_000;
const PER_SECOND = isShort ? 10 : 50;
const WORKERS = 2;
const INSERT = 5_000;
const AMOUNT_MINOR = 10_000n;
/** The oldest transfer has been due for so long. */
const OLDEST_MS = 10 * 60_000;
/** Transfers whose workflows begin at about the same time, in any order: pages of the dispatchers, and partitions of queues. */
const IN_HAND = isShort ? 200 : 2_000;
/** The peak is counted over so many seconds. */
const PEAK_SECONDS = 10;
/** Histories that are searched for expired calls: so many of the first polled, and of the last started. */
const SAMPLE = isShort ? 25 : 200;
const INTAKE_REQUESTS = 20;
const INTAKE_WITHIN_MS = 60_000;
/** The workers poll a bank from their start on. */
const FIRST_POLL_WITHIN_MS = 60_000;
/** The last part of the window, in which all workers have long been at work. */
const END_SECONDS = isShort ? 5 : 30;
/** Temporal's TIMEOUT_TYPE_SCHEDULE_TO_START and TIMEOUT_TYPE_SCHEDULE_TO_CLOSE: a call that expires before it begins. */
const QUEUE_TIMEOUTS = new Set<unknown>([2, 3]);

const say = (line: string) => process.stderr.write(`${line}\n`);

/** A transfer that the bank has, and whose next check has been due for some time: the first one for the longest. */
function openTransfer(tenant: Tenant, number: number, now: number): Transfer {
  const at = new Date(now - OLDEST_MS + Math.floor((number / OPEN) * (OLDEST_MS - 1_000)));
  const body = { ...transferBody(number), currency: 'NGN' as const };
  const named = { kind: 'found', name: 'ADAEZE OKAFOR', bankName: 'GTBank' } as const;
  const given = { tenant, body, amountMinor: AMOUNT_MINOR, named, provider: 'sandbox-bank' };
  const made = newTransfer({ ...given, now: at, startWithinMs: 0 });
  const timeline = [...made.timeline, timelineEntry(at, 'submitted', 'bursar')];
  const submitted = { submissions: 1, first_submitted_at: at, acknowledged_at: at };
  return { ...made, ...submitted, status: 'processing', version: 2, timeline };
}

/** Inserts the open transfers directly: the bench measures polling, so they have no holds. Returns their ids, the oldest first. */
async function seed({ db }: Database, tenant: Tenant): Promise<string[]> {
  const fast = { writeConcern: { w: 1, journal: false } } as const;
  const transfers = db.collection<Transfer>('transfers', fast);
  const ids: string[] = [];
  const now = Date.now();
  while (ids.length < OPEN) {
    const from = ids.length;
    const batch = Array.from({ length: Math.min(INSERT, OPEN - from) }, (_, i) =>
      openTransfer(tenant, from + i, now),
    );
    await transfers.insertMany(batch, { ordered: false });
    ids.push(...batch.map(({ _id }) => _id));
  }
  return ids;
}

async function start(stack: Stack) {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const at = { mongodbUri: mongod.uri, temporalAddress: temporal.address, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const front = await startPendingBank(bankPort, AMOUNT_MINOR);
  const ours = {
    ...env,
    SANDBOX_BANK_URL: front.url,
    SANDBOX_BANK_CALLS_PER_SECOND: String(PER_SECOND),
    BURSAR_MAX_OPEN_TRANSFERS: String(OPEN),
  };
  const bank = stack.node('bank', env);
  const api = stack.node('api', ours);
  const url = `http://127.0.0.1:${apiPort}`;
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  const startWorkers = async (): Promise<Record<string, number>> => {
    const names = Array.from({ length: WORKERS }, (_, n) => `worker-${n + 1}`);
    const workers = names.map((name) => [name, stack.node('worker', ours, name).pid] as const);
    const { address, namespace, taskQueue } = config.temporal;
    await stack.until('worker', () => isPolled(address, { namespace, taskQueue }));
    return Object.fromEntries(workers);
  };
  const engines = { mongod: mongod.pid, temporal: temporal.pid };
  return {
    config,
    url,
    front,
    startWorkers,
    processes: { bench: process.pid, api: api.pid, bank: bank.pid, ...engines },
    versions: { MongoDB: mongod.version, 'Temporal CLI': temporal.version },
  };
}

/** The status of one request for a transfer, and whether it says when to come again. */
async function post(url: string, key: string, number: number) {
  const answer = await fetch(`${url}/api/v1/transfers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(transferBody(number)),
  });
  await answer.arrayBuffer();
  return { status: answer.status, isLater: answer.headers.has('retry-after') };
}

/** The share of requests that get 503 with Retry-After, once intake has counted what is open. */
async function refusedShare(url: string, key: string): Promise<number> {
  const giveUpAt = performance.now() + INTAKE_WITHIN_MS;
  let number = 2 * OPEN;
  while ((await post(url, key, (number += 1))).status !== 503) {
    if (performance.now() > giveUpAt) return 0;
    await sleep(1_000);
  }
  let refused = 0;
  for (let sent = 0; sent < INTAKE_REQUESTS; sent += 1) {
    const { status, isLater } = await post(url, key, (number += 1));
    if (status === 503 && isLater) refused += 1;
  }
  return refused / INTAKE_REQUESTS;
}

/** Calls that have expired in the queue, in the histories of these transfers. */
async function countExpired(config: Config, ids: readonly string[]): Promise<number> {
  const temporal = createTemporal(config.temporal);
  try {
    const expired = await mapWithConcurrency(10, [...ids], async (id) => {
      const handle = temporal.client.workflow.getHandle(transferWorkflowId(id));
      const { events } = await handle.fetchHistory();
      return (events ?? []).filter(({ activityTaskTimedOutEventAttributes: timedOut }) =>
        QUEUE_TIMEOUTS.has(timedOut?.failure?.timeoutFailureInfo?.timeoutType),
      ).length;
    });
    return expired.reduce((sum, each) => sum + each, 0);
  } finally {
    await temporal.close();
  }
}

/** Waits for the first poll, and returns its time. */
async function firstPoll({ calls }: PendingBank): Promise<number> {
  const giveUpAt = performance.now() + FIRST_POLL_WITHIN_MS;
  for (;;) {
    const [first] = calls;
    if (first) return first.at;
    if (performance.now() > giveUpAt) {
      throw new Error(`no transfer was polled within ${FIRST_POLL_WITHIN_MS / 1_000} s`);
    }
    await sleep(10);
  }
}

/** The share of the polled transfers that are among the longest waiting: as many as were polled, and those in hand. */
function oldestShare(polled: readonly string[], ids: readonly string[]): number {
  const oldest = new Set(ids.slice(0, polled.length + IN_HAND));
  return polled.filter((id) => oldest.has(id)).length / polled.length;
}

/** The calls of the window, by what is known of them. */
function figuresOf({ calls }: PendingBank, from: number, ids: readonly string[]) {
  const inWindow = calls.filter(({ at }) => at >= from && at < from + WINDOW_MS);
  const times = inWindow.map(({ at }) => at);
  let first = 0;
  let peak = 0;
  for (const [last, at] of times.entries()) {
    while ((times[first] ?? at) <= at - PEAK_SECONDS * 1_000) first += 1;
    peak = Math.max(peak, last - first + 1);
  }
  const polled = [...new Set(inWindow.map(({ reference }) => reference))];
  if (polled.length === 0) throw new Error('no transfer was polled in the window');
  const endFrom = from + WINDOW_MS - END_SECONDS * 1_000;
  return {
    calls: inWindow.length,
    perSecond: inWindow.length / (WINDOW_MS / 1_000),
    peakPerSecond: peak / PEAK_SECONDS,
    endPerSecond: times.filter((at) => at >= endFrom).length / END_SECONDS,
    polled,
    oldestShare: oldestShare(polled, ids),
  };
}

const once = (value: number) => spreadOf([value]);

function print(
  figures: ReturnType<typeof figuresOf>,
  given: { started: number; expired: number; attention: number; refused: number },
): void {
  const { calls, perSecond, peakPerSecond, endPerSecond, polled, oldestShare: share } = figures;
  printTable(
    [
      'open',
      'workflows started',
      'polls',
      'of transfers',
      'polls/s',
      `peak/s over ${PEAK_SECONDS} s`,
    ],
    [
      [OPEN, given.started, calls, polled.length]
        .map(whole)
        .concat([oneDigit(perSecond), oneDigit(peakPerSecond)]),
    ],
  );
  const none = { most: 0 };
  const all = { least: 1 };
  printGoals([
    { what: 'polls/s over the rate', measured: once(perSecond / PER_SECOND), goal: { most: 1 } },
    {
      what: `the same, in the busiest ${PEAK_SECONDS} s`,
      measured: once(peakPerSecond / PER_SECOND),
      // The workers may have saved some calls while they had nothing to ask.
      goal: { most: 1.1 },
    },
    {
      what: `the same, in the last ${END_SECONDS} s: how much of the rate is used`,
      measured: once(endPerSecond / PER_SECOND),
      goal: { least: 0.5 },
    },
    {
      what: 'share of the polled that had waited longest',
      measured: once(share),
      goal: { least: 0.9 },
    },
    {
      what: 'calls that expired in the queue',
      measured: once(given.expired),
      unit: 'count',
      goal: none,
    },
    { what: 'operators called', measured: once(given.attention), unit: 'count', goal: none },
    {
      what: 'share of requests refused with 503 above the limit',
      measured: once(given.refused),
      goal: all,
    },
  ]);
}

async function main(): Promise<void> {
  const stack = await openStack();
  try {
    const { config, url, front, startWorkers, processes, versions } = await start(stack);
    const database = await connectDatabase(config.mongodb, 'bursar-bench');
    const { tenant, key } = await createRichTenant(config, database, createGroupCommit(database));
    const { status } = await post(url, key, OPEN);
    if (status !== 201) throw new Error(`below the limit, intake answered ${status}`);
    const ids = await seed(database, tenant);
    for (const id of ids) front.pending.add(id);
    say(`${whole(OPEN)} transfers are open`);
    const workers = await startWorkers();
    const { result, othersShare } = await measureCpu({ ...processes, ...workers }, async () => {
      const from = await firstPoll(front);
      const refused = await refusedShare(url, key);
      await sleep(Math.max(0, from + WINDOW_MS - performance.now()));
      return { figures: figuresOf(front, from, ids), refused };
    });
    const transfers = database.db.collection<Transfer>('transfers');
    // A dispatcher has started its workflow, and given the claim back.
    const isStarted = { version: { $gt: 2 }, claim: { $exists: false } };
    const last = await transfers.find(isStarted).sort({ _id: -1 }).limit(SAMPLE).toArray();
    const sample = new Set([
      ...result.figures.polled.slice(0, SAMPLE),
      ...last.map(({ _id }) => _id),
    ]);
    const expired = await countExpired(config, [...sample]);
    const attention = await transfers.countDocuments({ attention: { $ne: null } });
    const started = await transfers.countDocuments(isStarted);
    printMachine(versions, { open: [{ othersShare }] });
    print(result.figures, { started, expired, attention, refused: result.refused });
    await database.client.close();
    front.close();
  } finally {
    await stack.stop();
  }
}

await main();
