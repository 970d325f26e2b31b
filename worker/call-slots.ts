import type { ActivitySlotInfo, CustomSlotSupplier } from '@temporalio/worker';
import type { CallRates } from '../src/core/providers/call-rates.js';
import { questionsOf } from '../src/platform/temporal/queues.js';

/** The names of activities that submit; all others of a provider's queue ask it. */
const isSubmission = ({ activityType }: ActivitySlotInfo): boolean =>
  activityType.startsWith('submit');

/** Pause between two looks at the rate while a poll of the queue waits for it. */
const LOOK_EVERY_MS = 20;

type Waiting = { resolve: (permit: object) => void };

/**
 * The slots of a provider's task queue: this process polls it only while the provider may be called, by a submission and by a
 * question, since nobody knows which of them comes next. Each counts against its own limit. Everything else waits in
 * the queue, in order, where it costs nothing and never expires. At most `most` calls are in flight.
 */
export function createCallSlots({
  name,
  rates,
  most,
}: {
  /** The provider's rate-limit key. */
  name: string;
  rates: Pick<CallRates, 'isAllowed' | 'spend'>;
  most: number;
}): CustomSlotSupplier<ActivitySlotInfo> {
  const questions = questionsOf(name);
  const waiting: Waiting[] = [];
  const slots = { polling: 0, working: 0 };
  let timer: NodeJS.Timeout | null = null;

  /** Gives slots to waiting polls. Looks again later if no poll is under way that would bring it back here. */
  function pump(): void {
    while (waiting.length > 0 && slots.polling + slots.working < most) {
      if (![name, questions].every((each) => rates.isAllowed(each, 'queued', slots.polling))) break;
      slots.polling += 1;
      waiting.shift()?.resolve({});
    }
    const isStuck = waiting.length > 0 && slots.polling === 0 && slots.working < most;
    if (isStuck) timer ??= setTimeout(look, LOOK_EVERY_MS);
  }

  function look(): void {
    timer = null;
    pump();
  }

  return {
    type: 'custom',
    reserveSlot: (_, signal) =>
      new Promise((resolve, reject) => {
        const one: Waiting = { resolve };
        waiting.push(one);
        signal.addEventListener('abort', () => {
          const at = waiting.indexOf(one);
          if (at !== -1) waiting.splice(at, 1);
          reject(signal.reason as Error);
        });
        pump();
      }),
    // Calls of this queue are never started by a workflow task of this worker.
    tryReserveSlot: () => null,
    markSlotUsed({ slotInfo }) {
      slots.polling -= 1;
      slots.working += 1;
      rates.spend(isSubmission(slotInfo) ? name : questions, 'queued');
      pump();
    },
    releaseSlot({ slotInfo }) {
      if (slotInfo) slots.working -= 1;
      else slots.polling -= 1;
      pump();
    },
  };
}
