import type { TimelineEntry, Transfer } from './transfer.js';

/**
 * A transfer's own steps and what its tenant was told of them, in the order of time. Deliveries are read from where
 * they are kept: written into the record, they would compete with its settlement.
 */
export function wholeTimeline(
  transfer: Pick<Transfer, 'timeline'>,
  told: readonly TimelineEntry[],
): TimelineEntry[] {
  return [...transfer.timeline, ...told].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
