import type { z } from 'zod';
import type { tokenResource } from './schema.js';
import type { PaymentToken } from './record.js';
import { setupFailure, type TokenSetup } from './setup.js';

/** A token as clients see it: never its authorization, never the number of an account. */
export function presentToken(token: PaymentToken): z.infer<typeof tokenResource> {
  return {
    payment_token_id: token._id,
    customer_id: token.customer.id,
    type: token.type,
    status: token.status,
    ...(token.brand !== null && { brand: token.brand }),
    ...(token.last4 !== null && { last4: token.last4 }),
    ...(token.bank_code !== null && { bank_code: token.bank_code }),
    ...(token.setup && { setup: presentSetup(token.setup) }),
    created_at: token.created_at.toISOString(),
  };
}

const STATUSES = {
  pending: 'pending',
  open: 'requires_action',
  saved: 'completed',
  failed: 'failed',
} as const;

const presentSetup = ({ status, url, failure, expires_at: expiresAt }: TokenSetup) => ({
  status: STATUSES[status],
  next_action: url === null ? null : { type: 'redirect' as const, url },
  failure: failure === null ? null : setupFailure(failure),
  expires_at: expiresAt.toISOString(),
});
