import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import type { PaymentToken } from './record.js';
import { presentToken } from './presenter.js';
import { tokenResource } from './schema.js';
import type { TokenSetup } from './setup.js';

/** The webhook events of payment tokens: those of their set-ups without a payment. */
export const paymentTokenEvents = {
  when: {
    'payment_token.setup_requires_action':
      'the page on which a customer saves a payment method without a payment is open',
    'payment_token.setup_completed':
      'a payment method was saved while a set-up was awaited, and the token is `active`',
    'payment_token.setup_failed':
      'a set-up without a payment has ended without a payment method: `setup.failure.code` says why',
  },
  data: tokenResource,
};

const NAMES: Record<TokenSetup['status'], keyof typeof paymentTokenEvents.when | null> = {
  pending: null,
  open: 'payment_token.setup_requires_action',
  saved: 'payment_token.setup_completed',
  failed: 'payment_token.setup_failed',
};

/** Returns the webhook event of a change of the token's set-up, and the token with that event counted. */
export function withSetupEvent(before: PaymentToken, after: PaymentToken): WithEvent<PaymentToken> {
  const { setup = null } = after;
  const name = setup === null || setup.status === before.setup?.status ? null : NAMES[setup.status];
  if (name === null) return { next: after, event: null };
  const counted = { ...before, event_sequence: before.event_sequence ?? 0 };
  return countEvent<typeof counted>(counted, { ...after, event_sequence: 0 }, (next) => ({
    name,
    data: presentToken(next),
  }));
}
