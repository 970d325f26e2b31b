import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSACTION_OPTIONS } from '../../../src/platform/database/client.js';
import { transferWorkflowId } from '../../../src/capabilities/transfers/transfer.js';
import { transferMicroBatchWorkflowId } from '../../../src/capabilities/transfers/micro-batches.js';
import { eventually } from '../../support/eventually.js';
import type { Cluster } from './cluster.js';

/** Temporal's name for a turn that was begun and never ended. */
const START_TO_CLOSE = 1;

/** What a workflow's history says; nothing of one that there never was. */
async function eventsOf({ service }: Cluster, workflowId: string) {
  const handle = service.deps.temporal.client.workflow.getHandle(workflowId);
  return (await handle.fetchHistory().catch(() => null))?.events ?? [];
}

/** Until a worker sends where it is: what sets out together would otherwise be handed on, and sent by the queue. */
export async function submitsLocally(cluster: Cluster): Promise<void> {
  await eventually('a worker sends where it is', async () => {
    const id = await cluster.tenant.send();
    await cluster.tenant.waitFor(id, 'completed');
    const events = await eventsOf(cluster, transferWorkflowId(id));
    const byQueue = events.some((event) => event.activityTaskScheduledEventAttributes);
    return events.length > 0 && !byQueue ? true : undefined;
  });
  await cluster.isQuiet();
}

const NO_RELOAD = {
  enabled: false,
  threshold_minor: 1_000,
  amount_minor: 1_000,
  daily_cap_minor: 1_000,
};
/** Until the API is held up, and until all that is asked for then waits behind it. */
const HELD_UP_AFTER_MS = 100;
const HELD_UP_FOR_MS = 600;

/**
 * Has transfers that are asked for at once accepted by one commit, so that all of them set out together: their wallet's
 * commits wait behind one about a card, and that one for us. Left to itself, the first of them sets out alone.
 */
export async function heldUp<Result>(
  { service, card, cards }: Cluster,
  act: () => Promise<Result>,
): Promise<Result> {
  const { client, db } = service.deps.database;
  const session = client.startSession();
  try {
    session.startTransaction(TRANSACTION_OPTIONS);
    const ours = { _id: card } as object;
    await db.collection('cards').updateOne(ours, { $set: { updated_at: new Date() } }, { session });
    const before = cards.call('PUT', `/cards/${card}/auto-reload`, NO_RELOAD);
    await sleep(HELD_UP_AFTER_MS);
    const result = act();
    await sleep(HELD_UP_FOR_MS);
    await session.abortTransaction();
    expect((await before).status).toBe(200);
    return await result;
  } finally {
    await session.endSession();
  }
}

/** Longer than a micro-batch takes to be tried again. */
const PUT_OFF_MS = 60_000;

/** When the worker is dead: has none of them overdue so soon that the dispatcher would be there before their micro-batch. */
export async function putOff({ service }: Cluster, ids: readonly string[]): Promise<void> {
  await eventually('the worker is dead', () => (service.worker.isRunning() ? undefined : true));
  const open = { _id: { $in: ids }, next_check_at: { $type: 'date' } } as object;
  const next_check_at = new Date(Date.now() + PUT_OFF_MS);
  await service.deps.database.db
    .collection('transfers')
    .updateMany(open, { $set: { next_check_at } });
}

/** Whether a worker died while it let several of these out by one workflow; that is named by the first of them. */
export const diedInMicroBatch = (cluster: Cluster, ids: readonly string[]): Promise<boolean> =>
  isCutShort(cluster, ids.map(transferMicroBatchWorkflowId));

/** Whether one died at work for a workflow that one of these has of its own. */
export const diedAlone = (cluster: Cluster, ids: readonly string[]): Promise<boolean> =>
  isCutShort(cluster, ids.map(transferWorkflowId));

/** Whether somebody had a turn of one of them, or a call by the queue, and was not heard of again. */
async function isCutShort(cluster: Cluster, workflowIds: readonly string[]): Promise<boolean> {
  const histories = await Promise.all(workflowIds.map((id) => eventsOf(cluster, id)));
  return histories
    .flat()
    .some(
      ({ workflowTaskTimedOutEventAttributes: turn, activityTaskTimedOutEventAttributes: call }) =>
        turn?.timeoutType === START_TO_CLOSE || call,
    );
}
