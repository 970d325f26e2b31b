import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import { presentAccount } from './presenter.js';
import { virtualAccountResource } from './schema.js';
import type { VirtualAccount } from './record.js';

/** The webhook events of virtual accounts. */
export const virtualAccountEvents = {
  when: {
    'virtual_account.created': 'the provider has assigned the account: it has a number',
    'virtual_account.failed': 'the provider has refused the account, or an operator failed it',
    'virtual_account.closed': 'the account is closed at the provider',
  },
  data: virtualAccountResource,
};

/** The event of a change, or null. A closing that begins or that the provider refuses is none. */
function nameOf(
  before: VirtualAccount,
  after: VirtualAccount,
): keyof typeof virtualAccountEvents.when | null {
  if (before.state === after.state) return null;
  if (after.state === 'failed') return 'virtual_account.failed';
  if (after.state === 'closed') return 'virtual_account.closed';
  const isNew = after.state === 'active' && before.state !== 'closing';
  return isNew ? 'virtual_account.created' : null;
}

/** The webhook event of an account's change, and the account with that event counted. */
export function withAccountEvent(
  before: VirtualAccount,
  after: VirtualAccount,
): WithEvent<VirtualAccount> {
  const name = nameOf(before, after);
  if (name === null) return { next: after, event: null };
  return countEvent(before, after, (next) => ({ name, data: presentAccount(next) }));
}
