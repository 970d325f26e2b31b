import { verifyWebhook } from '../../client/src/index.js';
import type { Transfer } from '../../src/transfers/transfer.js';
import type { Asked } from './clients.js';
import type { StormStage } from './stage.js';

type Documents = Record<string, unknown>;

/** Everything that may be wrong after a storm, in plain words. Empty when the claim holds. */
export async function check(stage: StormStage, asked: readonly Asked[]): Promise<string[]> {
  const { db } = stage.service.deps.database;
  const transfers = await db.collection<Transfer>('transfers').find().toArray();
  return [
    // Postings balance, wallets are their postings, what is held is what is open, and the bank agrees.
    ...(await stage.service.problems()),
    ...answersHold(asked, transfers),
    ...(await nothingOpen(stage)),
    ...(await nothingHeld(stage)),
    ...(await everythingTold(stage, transfers)),
    ...(await isolated(stage, transfers)),
    ...(await nothingLeaks(stage, transfers)),
  ];
}

/** Every 201 is there once and as it was asked for; what was refused is not there. */
function answersHold(asked: readonly Asked[], transfers: readonly Transfer[]): string[] {
  const byReference = new Map<string, Transfer[]>();
  for (const one of transfers) {
    const key = `${one.tenant}/${one.reference}`;
    byReference.set(key, [...(byReference.get(key) ?? []), one]);
  }
  const problems = asked.flatMap(({ of, body, answer }) => {
    if (!answer) return [`${body.reference} was never answered`];
    const found = byReference.get(`${of.tenant.id}/${body.reference}`) ?? [];
    if (answer.status !== 201) {
      return found.length === 0 ? [] : [`${body.reference} was refused, and is there`];
    }
    const [one] = found;
    const same =
      found.length === 1 &&
      one?._id === answer.id &&
      one.amount_minor === BigInt(body.amount_minor);
    return same
      ? []
      : [`${body.reference} was accepted as ${answer.id}, and there are ${found.length}`];
  });
  const accepted = asked.filter(({ answer }) => answer?.status === 201).length;
  if (accepted !== transfers.length) {
    problems.push(`${accepted} were accepted, and there are ${transfers.length} transfers`);
  }
  return problems;
}

async function nothingOpen({ service }: StormStage): Promise<string[]> {
  const { database, temporal, config } = service.deps;
  const left = async (collection: string, filter: Documents) =>
    database.db.collection(collection).countDocuments(filter);
  const query = `ExecutionStatus = "Running" AND TaskQueue = "${config.temporal.taskQueue}"`;
  const open = {
    'transfers open': await left('transfers', { status: { $in: ['pending', 'processing'] } }),
    'transfers due': await left('transfers', { due_at: { $type: 'date' } }),
    'callbacks not applied': await left('callbacks', { next_try_at: { $type: 'date' } }),
    'deliveries not taken': await left('webhook_deliveries', { status: { $ne: 'delivered' } }),
    'workflows running': (await temporal.client.workflow.count(query)).count,
  };
  return Object.entries(open).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
}

async function nothingHeld({ service, tenants }: StormStage): Promise<string[]> {
  const held = await Promise.all(tenants.map(({ tenant }) => tenant.balance()));
  const wallets = await service.deps.database.db
    .collection<{ available_minor: bigint }>('wallets')
    .countDocuments({ available_minor: { $lt: 0n } });
  return [
    ...held.flatMap((balance, i) =>
      balance.held === 0 ? [] : [`tenant ${i} has ${balance.held} held`],
    ),
    ...(wallets > 0 ? [`${wallets} wallets are below zero`] : []),
  ];
}

/** Each end was told to its tenant, under one id, and signed. */
async function everythingTold(
  { receiver, tenants }: StormStage,
  transfers: readonly Transfer[],
): Promise<string[]> {
  const problems: string[] = [];
  const told = new Map<string, Set<string>>();
  const secrets = tenants.map(({ secret }) => secret);
  for (const { headers, body } of receiver.received) {
    const event = await verifyWebhook(secrets, headers, body).catch((error: unknown) => {
      problems.push(`a webhook does not verify: ${String(error)}`);
      return null;
    });
    if (!event) continue;
    const { id } = event.data as { id: string };
    const key = `${id} ${event.event}`;
    told.set(key, (told.get(key) ?? new Set()).add(event.id));
  }
  for (const [key, ids] of told)
    if (ids.size > 1) problems.push(`${key} was told as ${ids.size} events`);
  for (const { _id, status } of transfers) {
    if (!told.has(`${_id} transfer.${status}`))
      problems.push(`nobody was told that ${_id} is ${status}`);
  }
  return problems;
}

/** Another tenant's key finds nothing. */
async function isolated(
  { tenants }: StormStage,
  transfers: readonly Transfer[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const transfer of transfers.filter((_, i) => i % 50 === 0)) {
    const other = tenants.find(({ tenant }) => tenant.id !== transfer.tenant);
    const reply = await other?.tenant.call('GET', `/transfers/${transfer._id}`, undefined);
    if (reply?.status !== 404) problems.push(`${transfer._id} is shown to another tenant`);
  }
  return problems;
}

/** No account number in a history; the logs are searched when the run ends. */
async function nothingLeaks(
  { service }: StormStage,
  transfers: readonly Transfer[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { _id, recipient } of transfers.filter((_, i) => i % 25 === 0)) {
    const handle = service.deps.temporal.client.workflow.getHandle(`transfer/${_id}`);
    const history = await handle.fetchHistory().catch(() => null);
    const events = JSON.stringify(history?.events ?? [], (_, value: unknown) => {
      const bytes = value as { type?: string; data?: number[] } | null;
      return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('utf8') : value;
    });
    if (events.includes(recipient.account))
      problems.push(`the history of ${_id} has an account number`);
  }
  return problems;
}
