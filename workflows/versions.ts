import { patched } from '@temporalio/workflow';

/** Changes by name, each with the day of its release. */
export type Changes = Readonly<Record<string, { since: string; description: string }>>;

/**
 * Changes of workflow code that runs which started earlier must not follow. Histories keep the name, so it is never used
 * for another change. Remove a change and its old path once no run is left that started before its day.
 */
const CHANGES: Changes = {
  'interrupted-calls': {
    since: '2026-11-25',
    description: "a command ends the wait of a call in its provider's queue",
  },
  'failed-after-success': {
    since: '2026-11-25',
    description: 'a forced `fail` ends a completed refund that its provider rejects',
  },
  'failed-after-reversal': {
    since: '2026-11-27',
    description:
      'a forced `fail` ends a transfer of which its provider has taken back another amount',
  },
  'approved-absence': {
    since: '2026-11-25',
    description: 'a submission after an attested absence needs the approval of a second person',
  },
  'attested-submission': {
    since: '2026-11-28',
    description:
      'a change of the record does not replace a submission that an operator has attested',
  },
  'unanswered-pages': {
    since: '2026-11-25',
    description:
      'a reconciliation of transfers leaves a page that stays unanswered after some repeats',
  },
};

/** True if this run started with the change. Lint forbids the SDK's `patched` in every other file. */
export function changed(name: string, changes = CHANGES): boolean {
  if (!(name in changes)) throw new Error(`${name} is not among the changes of versions.ts`);
  return patched(name);
}
