import type { Hold } from '../../core/ledger/hold-postings.js';
import { accounts } from '../../core/ledger/posting.js';
import type { CardOperation } from '../cards/card-operation.js';

/** An operation that moves money: a funding or a fund reversal. */
export type Funding = CardOperation & { amount_minor: bigint };

/**
 * The hold of a funding. A capture moves the money to the card. A fund reversal ends the hold of its funding, so the
 * postings of both are named after the funding. `capturedMinor` is the part that is still on the card at a reversal.
 */
export const holdOf = (funding: Funding, capturedMinor = funding.amount_minor): Hold => ({
  id: funding.reverses_operation_id ?? funding._id,
  tenantId: funding.tenant_id,
  heldAt: funding.created_at,
  provider: funding.provider,
  amountMinor: funding.amount_minor,
  captured: [{ account: accounts.cardAvailable(funding.card_id), amountMinor: capturedMinor }],
});
