import { ApiError } from '../../shared/errors.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import type { AcceptTransfer } from './mutations.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import type { NameEnquiry } from '../banks/index.js';
import { amountWithin, newTransfer } from './new-transfer.js';
import { presentTransfer } from './presenter.js';
import { recipientOf, type CreateTransferBody } from './schema.js';
import type { TransferStarter } from './workflow-starter.js';
import type { Transfers } from './store.js';
import type { Transfer } from './transfer.js';

export type CreateTransfer = (
  tenant: Tenant,
  body: CreateTransferBody,
  claim: Claim | null,
  /** Puts the time that a bank takes on nobody's clock. */
  withoutDeadline?: WithoutDeadline,
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/**
 * Accepts a transfer: name enquiry, then one commit of record, hold, limit, key and answer, then the start of its
 * workflow, which the answer does not wait for. Refusals come back as answers, for they too are kept under the key.
 */
export function createTransferCreation(deps: {
  transfers: Transfers;
  starter: TransferStarter;
  nameEnquiry: NameEnquiry;
  provider: string;
  clock?: () => Date;
}): CreateTransfer {
  const { transfers, starter, nameEnquiry, provider, clock = () => new Date() } = deps;

  return async (tenant, body, claim, withoutDeadline = (wait) => wait) => {
    const amountMinor = amountWithin(tenant, body);
    const named = await withoutDeadline(nameEnquiry(recipientOf(body)));
    if (named.kind === 'not_found') {
      return refuseRequest(transfers, {
        tenantId: tenant.id,
        claim,
        error: new ApiError('invalid_account'),
      });
    }
    const transfer = newTransfer({
      tenant,
      body,
      amountMinor,
      named,
      provider,
      now: clock(),
      startWithinMs: START_WITHIN_MS,
    });
    const outcome = throwIfKeyReused(
      await transfers.accept(acceptTransferInput(tenant, transfer, claim)),
    );
    if (outcome.resource === transfer._id) starter.startSoon(transfer);
    return outcome;
  };
}

function acceptTransferInput(
  tenant: Tenant,
  transfer: Transfer,
  claim: Claim | null,
): AcceptTransfer {
  const body = JSON.stringify({ success: true, data: presentTransfer(transfer) });
  return {
    tenantId: tenant.id,
    transfer,
    dailyLimitMinor: tenant.limits.dailyMinor,
    claim,
    answer: { status: 201, body },
  };
}
