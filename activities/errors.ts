import { log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { logIdsIn } from './log-ids.js';

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Wraps activities so that a failure carries only the error's name and code, because histories keep failures and a
 * driver's error may quote documents. Our own `ApplicationFailure`s and cancellations pass unchanged.
 */
export function withoutDetails<Activities extends Record<string, Activity>>(
  activities: Activities,
): Activities {
  const wrapped = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
        log.warn('activity failed', { err: error, ...logIdsIn(args[0]) });
        throw ApplicationFailure.create({ message: `${name} failed`, type: typeOf(error) });
      }
    },
  ]);
  return Object.fromEntries(wrapped) as Activities;
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number'
    ? `${error.name}:${code}`
    : error.name;
}

/** The failure of an activity whose record is not there. It is not retried. */
export const noSuch = (name: string) =>
  ApplicationFailure.nonRetryable(`no such ${name}`, 'NoSuchRecord');
