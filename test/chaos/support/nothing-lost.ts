import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../support/service.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { webhooksQueue } from '../../../src/platform/temporal/queues.js';
import type { SentRequest } from './load.js';

/**
 * Violations when no work is open, as text: an answer that does not hold, a transfer without a request, a ledger that does
 * not balance or does not agree with the bank, work that is still open.
 */
export async function lossesOnceQuiet(
  service: Service,
  requests: readonly SentRequest[],
): Promise<string[]> {
  await waitUntilNoOpenWork(service);
  const { db } = service.deps.database;
  const transfers = await db.collection<Transfer>('transfers').find().toArray();
  return [
    ...(await service.problems()),
    ...answersHold(requests, transfers),
    ...(await replaysAreEqual(requests)),
    ...(await nothingIsOpen(service)),
  ];
}

/** Each 201 has exactly one transfer with the requested fields, and no other transfer exists. */
function answersHold(requests: readonly SentRequest[], transfers: readonly Transfer[]): string[] {
  const found = new Map(transfers.map((one) => [`${one.tenant_id}/${one.reference}`, one]));
  const accepted = requests.filter(({ answer }) => answer?.status === 201);
  const wrong = accepted.filter(({ tenant, body, answer }) => {
    const one = found.get(`${tenant.id}/${body.reference}`);
    return one?._id !== answer?.body.data.id || one?.amount_minor !== BigInt(body.amount_minor);
  });
  return [
    ...requests.filter(({ answer }) => !answer).map(({ key }) => `${key} was never answered`),
    ...wrong.map(
      ({ key, answer }) => `${key}: ${answer?.body.data.id} does not exist as requested`,
    ),
    ...(accepted.length === transfers.length
      ? []
      : [`${accepted.length} were accepted, and there are ${transfers.length} transfers`]),
  ];
}

const REPLAYED = 100;

/** A repeated request returns the same bytes at any later time. */
async function replaysAreEqual(requests: readonly SentRequest[]): Promise<string[]> {
  const every = Math.max(1, Math.floor(requests.length / REPLAYED));
  const problems: string[] = [];
  for (const { tenant, body, key, answer } of requests.filter((_, i) => i % every === 0)) {
    const again = await tenant.transfer(body, { key });
    const same = again.status === answer?.status && again.text === answer.text;
    if (!same || again.headers.get('idempotent-replayed') !== 'true') {
      problems.push(`${key} was answered ${answer?.text}, and then ${again.status} ${again.text}`);
    }
  }
  return problems;
}

/** Number of running workflows of this service, by Temporal's list: those of records and of webhooks. */
export async function runningWorkflows({ config, temporal }: Service['deps']): Promise<number> {
  const { taskQueue } = config.temporal;
  const ours = [taskQueue, webhooksQueue(taskQueue)].map((queue) => `TaskQueue = "${queue}"`);
  const query = `ExecutionStatus = "Running" AND (${ours.join(' OR ')})`;
  return (await temporal.client.workflow.count(query)).count;
}

/** Counts of open work by kind; all zero when every record is terminal. */
export async function openWork({ deps }: Service): Promise<Record<string, number>> {
  const count = (collection: string, filter: object) =>
    deps.database.db.collection(collection).countDocuments(filter);
  const hasDate = { $type: 'date' };
  return {
    transfers: await count('transfers', { status: { $in: ['pending', 'processing'] } }),
    transfers_due: await count('transfers', { next_check_at: hasDate }),
    provider_events: await count('provider_events', { next_check_at: hasDate }),
    deliveries: await count('webhook_deliveries', { status: { $ne: 'delivered' } }),
    attention: await count('transfers', { 'attention.since': hasDate }),
    workflows: await runningWorkflows(deps),
  };
}

/** Open work may take long on a busy machine, but must decrease within this time. */
const NO_PROGRESS_MS = 180_000;
/** Counts in a row without open work: a callback of the bank may be on its way. */
const QUIET_COUNTS = 2;

/** Waits until no work is open, or the open work stops decreasing. */
export async function waitUntilNoOpenWork(service: Service): Promise<void> {
  let least = Infinity;
  let since = performance.now();
  for (let quiet = 0; quiet < QUIET_COUNTS && performance.now() - since < NO_PROGRESS_MS;) {
    const open = Object.values(await openWork(service)).reduce((sum, count) => sum + count, 0);
    quiet = open === 0 ? quiet + 1 : 0;
    if (open < least) [least, since] = [open, performance.now()];
    await sleep(500);
  }
}

async function nothingIsOpen(service: Service): Promise<string[]> {
  const open = Object.entries(await openWork(service)).filter(([, count]) => count > 0);
  return open.map(([what, count]) => `${count} ${what} still open`);
}
