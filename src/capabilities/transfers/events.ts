import { countEvent } from '../../core/instructions/events.js';
import { presentTransfer } from './presenter.js';
import type { Transfer } from './transfer.js';

/** The event of a change, and the transfer with that event counted. */
export const withEvent = (before: Transfer, after: Transfer) =>
  countEvent(before, after, (was, is) => ({ name: nameOf(was, is), data: presentTransfer(is) }));

function nameOf(before: Transfer, after: Transfer): string {
  const reversed = after.reversed_at !== null && before.reversed_at === null;
  return `transfer.${reversed ? 'reversed' : after.status}`;
}
