import { countStatusEvent, type WithEvent } from '../../core/instructions/events.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { IdentityCheck } from './record.js';
import { presentCheck } from './presenter.js';
import { checkResource } from './schema.js';

/** The webhook events of identity checks. */
export const identityCheckEvents = {
  when: {
    'kyc.completed':
      'a check has ended: `verified`, `rejected` (the data do not match) or `failed` (they could not be checked)',
  },
  data: checkResource,
};

/** Returns the webhook event of a check's end, and the check with that event counted. An open check emits none. */
export function withCheckEvent(
  before: IdentityCheck,
  after: IdentityCheck,
): WithEvent<IdentityCheck> {
  if (isOpen(after)) return { next: after, event: null };
  const name: keyof typeof identityCheckEvents.when = 'kyc.completed';
  return countStatusEvent(before, after, (next) => ({ name, data: presentCheck(next) }));
}
