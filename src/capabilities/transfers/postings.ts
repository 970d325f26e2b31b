import type { Hold } from '../../core/ledger/hold-postings.js';
import { accounts } from '../../core/ledger/posting.js';
import type { Transfer } from './transfer.js';

/** The hold of a transfer. A capture moves the amount to the bank, and the fee to Bursar. */
export const holdOf = (transfer: Transfer): Hold => ({
  id: transfer._id,
  tenantId: transfer.tenant_id,
  heldAt: transfer.created_at,
  provider: transfer.provider,
  amountMinor: transfer.amount_minor,
  settledMinor: transfer.settled_amount_minor,
  captured: [
    { account: accounts.clearing(transfer.provider), amountMinor: transfer.amount_minor },
    { account: accounts.fees, amountMinor: transfer.fee_minor },
  ],
});
