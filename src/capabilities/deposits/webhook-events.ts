import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import type { Deposit } from './record.js';
import { presentDeposit } from './presenter.js';
import { depositResource } from './schema.js';

/** The webhook events of deposits. */
export const depositEvents = {
  when: {
    'virtual_account.credited': 'a deposit on a virtual account was credited to the wallet',
    'virtual_account.deposit_suspended':
      'a deposit was received and not credited; an operator decides, or it is returned to its sender',
    'virtual_account.deposit_reversed':
      'the provider took a deposit back, and a credited one was debited from the wallet; or an operator found that a suspended one is not yours',
  },
  data: depositResource,
};

const NAMES: Partial<Record<Deposit['state'], keyof typeof depositEvents.when>> = {
  credited: 'virtual_account.credited',
  suspended: 'virtual_account.deposit_suspended',
  reversed: 'virtual_account.deposit_reversed',
};

/** The webhook event of a deposit's change of state, and the deposit with that event counted. */
export function withDepositEvent(before: Deposit, after: Deposit): WithEvent<Deposit> {
  const name = before.state === after.state ? undefined : NAMES[after.state];
  // A deposit that moved no money was never reported as received.
  const isSilent = before.state === 'received' && after.state === 'reversed';
  if (name === undefined || isSilent) return { next: after, event: null };
  return countEvent(before, after, (next) => ({ name, data: presentDeposit(next) }));
}
