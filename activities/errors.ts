import { log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * What fails in an activity goes into the workflow's history and the SDK's log. A driver's error quotes documents, so
 * only the error's name and code leave the activity; our own failures pass as they are.
 */
export function withoutDetails<Activities extends Record<string, Activity>>(
  activities: Activities,
): Activities {
  const shielded = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
        log.warn('activity failed', { err: error });
        throw ApplicationFailure.create({ message: `${name} failed`, type: typeOf(error) });
      }
    },
  ]);
  return Object.fromEntries(shielded) as Activities;
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number'
    ? `${error.name}:${code}`
    : error.name;
}
