import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { atMost } from '../src/concurrency.js';
import { needsWorkflow } from '../src/pursuits/record.js';
import type { CallReport, NotTried, RecordRef } from '../src/pursuits/reports.js';
import type { TransferWaveInput } from '../src/transfers/reports.js';
import type { TransferStarter } from '../src/transfers/starter.js';
import { isFact } from './reports.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';

export type TransferWaveActivityDeps = TransferActivityDeps & {
  starter: Pick<TransferStarter, 'start'>;
};
type Deps = TransferWaveActivityDeps;
type Activities = ReturnType<typeof createTransferActivities>;

/** Orders of one wave on their way at once. */
const SENDS_AT_ONCE = 10;
/** How long an order waits for room to be sent from here, and how often that is looked for. */
const ROOM_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;
/** Who has let an order out has its answer booked within this, or is dead. */
const UNDER_WAY_MS = 5_000;

export function createTransferWaveActivities(deps: Deps) {
  const { transfers } = deps;
  const activities = createTransferActivities(deps);
  return {
    /**
     * Lets the orders of a wave out that have not left yet, and books final answers. Everything else gets a workflow
     * of its own. Repeatable: nothing leaves twice.
     */
    async letOutWave({ provider, transfers: refs }: TransferWaveInput): Promise<void> {
      await atMost(SENDS_AT_ONCE, refs, async (ref) => {
        const left = await letOut(deps, activities, ref, provider);
        if (left) await handOn(deps, ref, left);
      });
    },

    /** What is open of a wave that went wrong is due now, for workflows of their own. */
    async handOverWave({ transfers: refs }: TransferWaveInput): Promise<void> {
      await atMost(SENDS_AT_ONCE, refs, ({ tenant, id }) => transfers.handOver(tenant, [id]));
    },
  };
}

/** Who drives a transfer that has not ended: nobody, or perhaps whoever got the permission to send it. */
type Left = { drivenByOther: boolean };

/** One order: out, and booked if the answer is final. Null where nothing is left to do for it. */
async function letOut(
  { firstTries, log }: Deps,
  activities: Activities,
  ref: RecordRef,
  provider: string,
): Promise<Left | null> {
  try {
    const report = await send();
    if (report.kind === 'not_tried' || !isFact(report)) {
      const isOver = report.kind === 'closed' && report.attention === null;
      return isOver ? null : { drivenByOther: report.kind === 'not_permitted' };
    }
    const { status, attention, watched } = await activities.settleTransfer({
      ...ref,
      fact: report,
    });
    const isOver = (status === 'completed' || status === 'failed') && attention === null;
    return isOver && !watched ? null : { drivenByOther: false };
  } catch (error) {
    // One that goes wrong spoils none of the others.
    log.warn({ err: error, transfer: ref.id }, 'left to a workflow of its own');
    return { drivenByOther: false };
  }

  async function send(): Promise<CallReport | NotTried> {
    const signal = cancellationSignal();
    const giveUpAt = performance.now() + ROOM_WITHIN_MS;
    for (;;) {
      const report = await activities.submitTransferHere({ ...ref, provider, sends: 0 });
      const inTime = performance.now() < giveUpAt && firstTries.hasRoomSoon(provider);
      if (report.kind !== 'not_tried' || !inTime) return report;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

/**
 * Starts its own workflow, now if that is possible. What another wave has just let out is left to that one, and to its
 * due date: where much is late, everything would otherwise be driven twice.
 */
async function handOn(
  { transfers, starter, log }: Deps,
  { tenant, id }: RecordRef,
  { drivenByOther }: Left,
): Promise<void> {
  try {
    const transfer = await transfers.get(tenant, id);
    if (!transfer || !needsWorkflow(transfer)) return;
    if (drivenByOther && Date.now() - transfer.updated_at.getTime() < UNDER_WAY_MS) return;
    await starter.start(transfer);
  } catch (error) {
    log.warn({ err: error, transfer: id }, 'workflow not started, left to the dispatcher');
    await transfers.handOver(tenant, [id]).catch(() => undefined);
  }
}
