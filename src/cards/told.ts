import type { View } from '../ledger/view.js';
import { countEvent } from '../pursuits/events.js';
import { isOpen } from '../pursuits/record.js';
import { isShown, type CardOperation } from './operation.js';
import { presentOperation } from './presenter.js';

/**
 * Changes an operation within a commit, and tells of its end; answers it with its event counted. Tenants hear of no
 * other change, and of nothing that they do not see.
 */
export function changeOperation(
  view: View,
  before: CardOperation,
  after: CardOperation,
): CardOperation {
  if (!isShown(after) || isOpen(after)) {
    view.change('card_operations', after);
    return after;
  }
  const { next, event } = countEvent(before, after, (_, is) => ({
    name: `card.operation.${is.status}`,
    data: presentOperation(is),
  }));
  view.change('card_operations', next);
  view.tell(event);
  return next;
}
