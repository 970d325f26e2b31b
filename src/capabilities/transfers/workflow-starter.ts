import { createLane } from '../../shared/batching.js';
import { formatMajor } from '../../shared/money.js';
import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import { createInstructionStarter } from '../../core/instructions/instruction-starter.js';
import {
  MAX_IN_FLIGHT,
  type InstructionStarterSettings,
  createWorkflowStarter,
  type Started,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import {
  transferContract,
  type TransferInput,
  type TransferMicroBatchInput,
} from './workflow-contract.js';
import { transferWorkflowId, type Transfer } from './record.js';

/** Starts, wakes and commands the workflows of transfers. */
export type TransferStarter = ReturnType<typeof createTransferStarter>;

/** Creates the starter of transfers. Transfers that are accepted while others are being started share micro-batches. */
export function createTransferStarter(settings: InstructionStarterSettings) {
  const { log, completionWaiters } = settings;
  const single = createSingleStarter(settings);
  const microBatches = createMicroBatchStarter(settings);
  const pauses = createStartPauses();
  const lane = createLane<Transfer, null>({
    async run(transfers) {
      const pause = pauses.begin(transfers.length);
      await Promise.all(microBatchesOf(transfers).map((group) => startWatched(group, pause)));
      await pause.over;
      return transfers.map(() => null);
    },
    maxBatch: MAX_MICRO_BATCH,
    maxWaiting: MAX_IN_FLIGHT,
  });

  const startMicroBatch = async ([first, ...others]: Transfer[]): Promise<Started | null> => {
    if (!first) return null;
    return others.length === 0 ? single.startWatched(first) : microBatches.start(first, others);
  };

  /** The end of the workflow ends the pause, and tells callers who wait for one of its transfers. */
  async function startWatched(group: Transfer[], pause: StartPause): Promise<void> {
    const ids = group.map(({ _id: id }) => id);
    const started = startMicroBatch(group);
    const isWatched = () =>
      group.length > 1 || pause.ms > 0 || ids.some(completionWaiters.isWaitingFor);
    pauses.watch(untilEnded().catch(() => undefined));
    await started;

    async function untilEnded(): Promise<void> {
      const workflow = await started;
      if (!isWatched()) return;
      await workflow?.ended();
      completionWaiters.look(ids);
    }
  }

  /** Starts a new transfer in one micro-batch with the others that wait. */
  async function startTogether(transfer: Transfer): Promise<void> {
    const started = lane.enqueue(transfer);
    if (lane.waiting() >= MAX_MICRO_BATCH) pauses.end();
    await started;
  }

  return {
    ...single,

    groupsOf,

    /** Starts one group at once: after an outage no transfer waits for others to share its workflow. */
    startGroup: async (group: Transfer[]): Promise<void> => void (await startMicroBatch(group)),

    /** Starts in the background. If the start fails or there are too many, the dispatcher starts the workflow later. */
    startSoon(transfer: Transfer): void {
      startTogether(transfer).catch((error: unknown) => {
        const { _id: resource, tenant_id: tenant } = transfer;
        const which = { err: error, resource, tenant, workflow_id: transferWorkflowId(resource) };
        log.warn(which, 'workflow start failed, dispatcher will retry');
      });
    },

    idle: async () => void (await Promise.all([lane.idle(), single.idle()])),
  };
}

/** A transfer as the dispatcher finds it. `stalled.starts`: its workflow was started so often without an effect. */
type DueTransfer = Transfer & { stalled?: { starts: number } };

/**
 * Groups due transfers: those that nobody has submitted share micro-batches, and each other one is alone. So is one that was
 * started without an effect: if the micro-batch of its group has stopped, the start of the same group would start nothing again.
 */
export function groupsOf(due: readonly DueTransfer[]): Transfer[][] {
  const isNew = ({ status, stalled }: DueTransfer) =>
    status === 'pending' && (stalled?.starts ?? 0) === 0;
  return [
    ...microBatchesOf(due.filter(isNew)),
    ...due.filter((transfer) => !isNew(transfer)).map((transfer) => [transfer]),
  ];
}

const createSingleStarter = (settings: InstructionStarterSettings) =>
  createInstructionStarter<Transfer>(settings, {
    workflow: transferContract.type,
    workflowId: ({ _id }) => transferWorkflowId(_id),
    rateLimitKey: transferRateLimitKey,
    input: ({ recipient }, base): TransferInput => ({
      ...base,
      recipientKnown: recipient.name !== null,
    }),
    summary: ({ currency, amount_minor: amountMinor, provider }) =>
      `${currency} ${formatMajor(amountMinor)} via ${provider}`,
  });

/** Largest micro-batch: its transfers share the cost of one workflow, which still ends within moments. */
export const MAX_MICRO_BATCH = 25;

/** Transfers a second that one process starts without a pause. A workflow each costs little at this rate. */
const STARTS_WITHOUT_PAUSE = 25;

/** Milliseconds that each further transfer a second adds to the pause. */
const PAUSE_STEP_MS = 4;

/** Longest pause, from 50 transfers a second on. */
const MAX_PAUSE_MS = 100;

/** The pause after one start. */
type StartPause = { ms: number; over: Promise<void> };

/**
 * The pauses between the starts of one process, in which further transfers gather. A pause ends after its time, when a full
 * micro-batch waits, and when no workflow that this process has started is under way (decision 12).
 */
export function createStartPauses(pauseAfter = createStartPause()) {
  const underWay = new Set<Promise<void>>();
  let end = () => {};
  return {
    begin(count: number): StartPause {
      const ms = pauseAfter(count);
      if (ms === 0) return { ms, over: Promise.resolve() };
      const over = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      return { ms, over };
    },
    end: () => end(),
    watch: (ended: Promise<void>): void => {
      const watched = ended.finally(() => {
        underWay.delete(watched);
        if (underWay.size === 0) end();
      });
      underWay.add(watched);
    },
  };
}

/**
 * Returns the longest pause in milliseconds after a start of `count` transfers. It depends on the transfers of the last second.
 * Under load, transfers share a workflow; at a low rate, none of them waits. There is no pause after a full micro-batch. `now` is
 * a monotonic clock in milliseconds.
 */
export function createStartPause(now: () => number = () => performance.now()) {
  const starts: { at: number; count: number }[] = [];
  return function pauseAfter(count: number): number {
    const at = now();
    starts.push({ at, count });
    while ((starts[0]?.at ?? at) <= at - 1_000) starts.shift();
    if (count >= MAX_MICRO_BATCH) return 0;
    const perSecond = starts.reduce((sum, start) => sum + start.count, 0);
    const pauseMs = (perSecond - STARTS_WITHOUT_PAUSE) * PAUSE_STEP_MS;
    return Math.min(Math.max(pauseMs, 0), MAX_PAUSE_MS);
  };
}

/** The id of the workflow that makes the first submissions of several transfers. `id` is that of the first transfer. */
export const transferMicroBatchWorkflowId = (id: string) => `transfer-micro-batch/${id}`;

/**
 * Groups transfers into micro-batches by provider, so that a slow provider delays no other. A transfer without the
 * recipient's name needs a name enquiry first and is alone in its group. A group has at most `MAX_MICRO_BATCH` transfers.
 */
export function microBatchesOf(transfers: readonly Transfer[]): Transfer[][] {
  const microBatches = new Map<string, Transfer[]>();
  for (const transfer of transfers) {
    const { provider, recipient, _id: id } = transfer;
    const key = recipient.name === null ? id : provider;
    const microBatch = microBatches.get(key);
    if (microBatch) microBatch.push(transfer);
    else microBatches.set(key, [transfer]);
  }
  return [...microBatches.values()].flatMap(inParts);
}

const inParts = (transfers: Transfer[]): Transfer[][] =>
  Array.from({ length: Math.ceil(transfers.length / MAX_MICRO_BATCH) }, (_, i) =>
    transfers.slice(i * MAX_MICRO_BATCH, (i + 1) * MAX_MICRO_BATCH),
  );

/** Creates the starter of micro-batches. Their workflow has no signals, so it can only be started. */
export function createMicroBatchStarter(settings: StarterSettings) {
  const { startWatched } = createWorkflowStarter<MicroBatch>({
    ...settings,
    workflow: 'transferMicroBatch',
    workflowId: ({ _id }) => transferMicroBatchWorkflowId(_id),
    toStart({ provider, transfers }) {
      const refs = transfers.map(({ tenant_id: tenantId, _id: id }) => ({ tenantId, id }));
      const input: TransferMicroBatchInput = {
        rateLimitKey: transferRateLimitKey(provider),
        transfers: refs,
      };
      const summary = `${transfers.length} transfers via ${provider}`;
      return { input, tenantId: null, provider, reference: null, amountMinor: null, summary };
    },
  });
  return {
    start: (first: Transfer, others: Transfer[]): Promise<Started> =>
      startWatched({ _id: first._id, provider: first.provider, transfers: [first, ...others] }),
  };
}

type MicroBatch = { _id: string; provider: string; transfers: Transfer[] };
