import { patched } from '@temporalio/workflow';

/**
 * Changes of workflow code that runs which started earlier must not follow: by name, with the day of release and a
 * description. Histories keep the name, so it is never used for another change. Remove a change and its old path once no
 * run is left that started before the day.
 */
export const CHANGES: Readonly<Record<string, { since: string; what: string }>> = {};

/** True if this run started with the change. Lint forbids the SDK's `patched` in every other file. */
export function changed(name: string): boolean {
  if (!(name in CHANGES)) throw new Error(`${name} is not among the changes of versions.ts`);
  return patched(name);
}
