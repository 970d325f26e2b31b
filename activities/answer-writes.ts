import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal, Context } from '@temporalio/activity';
import type { InstructionRecord } from '../src/core/instructions/instruction.js';
import { provesArrival } from '../src/core/instructions/transition.js';
import type { FactResult } from '../src/core/instructions/workflow-contract.js';
import { isDatabaseUnavailable } from '../src/platform/database/unavailable.js';
import type { Log } from '../src/shared/log.js';
import { unlessAborted } from '../src/shared/unless-aborted.js';
import { logIds } from './log-ids.js';

/** Pause before another attempt at a write, while our own database is away. */
const PAUSE_MS = 500;

/** Share of an activity's time after which an answer no longer waits for its writes: it must reach the run in time. */
const SHARE_OF_ACTIVITY = 0.85;

/** Makes a write again while our own database is away, until the activity is cancelled. A refused write is made once. */
async function untilServed(
  write: () => Promise<void>,
  signal = cancellationSignal(),
): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (signal.aborted || !isDatabaseUnavailable(error)) throw error;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

/**
 * Applies an outcome that no run remembers. If its commit fails, the record says at least that the provider has the instruction,
 * before its own workflow takes over.
 */
export async function applyOrAcknowledge<Result>(
  { kind }: FactResult,
  apply: () => Promise<Result>,
  acknowledge: () => Promise<void>,
): Promise<Result> {
  try {
    return await apply();
  } catch (error) {
    if (provesArrival(kind)) await untilServed(acknowledge);
    throw error;
  }
}

/** Makes a write about an answer. `isArrival`: it says that the provider has the instruction, so it is made until it is stored. */
export type AnswerWriter = (
  record: InstructionRecord,
  write: () => Promise<void>,
  isArrival?: boolean,
) => Promise<void>;

/**
 * The writes about the answer of an activity that begins now. None of them fails the activity, because the answer counts for the run
 * all the same. A run also remembers an acknowledgement, so the answer leaves in time for it. `untilStored`: no run remembers it.
 */
export function createAnswerWriter(
  log: Log,
  { untilStored = false }: { untilStored?: boolean } = {},
): AnswerWriter {
  const began = performance.now();
  return async ({ tenant_id: tenantId, _id: id }, write, isArrival = false) => {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, cancellationSignal()]);
    const written = (isArrival ? untilServed(write, signal) : write()).catch((error: unknown) =>
      log.warn({ err: error, ...logIds({ tenantId, id }) }, 'could not record provider answer'),
    );
    if (untilStored) return written;
    const { startToCloseTimeoutMs } = Context.current().info;
    const leftMs = began + startToCloseTimeoutMs * SHARE_OF_ACTIVITY - performance.now();
    const timer = setTimeout(() => over.abort(), Math.max(0, leftMs));
    await unlessAborted(written, over.signal).finally(() => clearTimeout(timer));
  };
}
