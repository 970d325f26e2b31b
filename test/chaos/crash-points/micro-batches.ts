import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSACTION_OPTIONS } from '../../../src/platform/database/client.js';
import { transferWorkflowId } from '../../../src/capabilities/transfers/record.js';
import { transferMicroBatchWorkflowId } from '../../../src/capabilities/transfers/workflow-starter.js';
import { eventually } from '../../support/eventually.js';
import type { Cluster } from './cluster.js';

/** Temporal's timeout type for a workflow task that started and never completed. */
const START_TO_CLOSE = 1;

/** The events of a workflow's history; empty if the workflow does not exist. */
async function eventsOf({ service }: Cluster, workflowId: string) {
  const handle = service.deps.temporal.client.workflow.getHandle(workflowId);
  return (await handle.fetchHistory().catch(() => null))?.events ?? [];
}

/** Waits until a worker submits locally. Until then a micro-batch is scheduled as own workflows, through the queue. */
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
/** Time until the API's commits are blocked, and time for the new requests to queue behind the blocked commit. */
const HELD_UP_AFTER_MS = 100;
const HELD_UP_FOR_MS = 600;

/**
 * Has concurrent transfers accepted by one commit, so that one micro-batch submits them: their wallet's commits queue
 * behind a card's commit, which this function blocks. Without it the first transfer would be submitted alone.
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

/** Long enough for transfers that were sent to reach the failpoint. */
const DIES_WITHIN_MS = 20_000;

/** True if the worker dies soon: transfers that came too late for one micro-batch may pass no failpoint. */
export const workerDies = ({ service }: Cluster): Promise<boolean> =>
  eventually(
    'the worker is dead',
    () => (service.worker.isRunning() ? undefined : true),
    DIES_WITHIN_MS,
  ).catch(() => false);

/** Postpones the next check of these transfers, so that the micro-batch retries before the dispatcher. */
export async function postpone({ service }: Cluster, ids: readonly string[]): Promise<void> {
  const open = { _id: { $in: ids }, next_check_at: { $type: 'date' } } as object;
  const next_check_at = new Date(Date.now() + PUT_OFF_MS);
  await service.deps.database.db
    .collection('transfers')
    .updateMany(open, { $set: { next_check_at } });
}

/** True if a worker died while one workflow, named after the first of these transfers, submitted several of them. */
export const diedInMicroBatch = (cluster: Cluster, ids: readonly string[]): Promise<boolean> =>
  isCutShort(cluster, ids.map(transferMicroBatchWorkflowId));

/** True if a worker died while it ran a transfer's own workflow. */
export const diedAlone = (cluster: Cluster, ids: readonly string[]): Promise<boolean> =>
  isCutShort(cluster, ids.map(transferWorkflowId));

/** True if a workflow task or an activity of one of them started and timed out. */
async function isCutShort(cluster: Cluster, workflowIds: readonly string[]): Promise<boolean> {
  const histories = await Promise.all(workflowIds.map((id) => eventsOf(cluster, id)));
  return histories
    .flat()
    .some(
      ({ workflowTaskTimedOutEventAttributes: turn, activityTaskTimedOutEventAttributes: call }) =>
        turn?.timeoutType === START_TO_CLOSE || call,
    );
}
