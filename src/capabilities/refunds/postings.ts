import type { Hold } from '../../core/ledger/hold-postings.js';
import { accounts } from '../../core/ledger/posting.js';
import type { Refund } from './refund.js';

/** The hold of a refund: the gross amount, because the provider keeps its fee for the charge. */
export const holdOf = (refund: Refund): Hold => ({
  id: refund._id,
  tenantId: refund.tenant_id,
  heldAt: refund.created_at,
  provider: refund.provider,
  amountMinor: refund.amount_minor,
  captured: [{ account: accounts.clearing(refund.provider), amountMinor: refund.amount_minor }],
});
