import { patched } from '@temporalio/workflow';

/**
 * Changes that runs which are already on their way must not follow, by name, with the day of their release and what
 * they change. A name is in histories: it is never used again. The old path goes when no run is left that began before
 * the day, and the name goes with it.
 */
export const CHANGES: Readonly<Record<string, { since: string; what: string }>> = {};

/** Whether this run began with the change in place. The one way to ask: lint keeps `patched` out of other files. */
export function changed(name: string): boolean {
  if (!(name in CHANGES)) throw new Error(`${name} is not among the changes of versions.ts`);
  return patched(name);
}
