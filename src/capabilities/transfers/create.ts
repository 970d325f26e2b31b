import { ApiError } from '../../shared/errors.js';
import { transferFee } from '../../shared/fees.js';
import { newId } from '../../shared/ids.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/saved-response.js';
import { amountWithin } from '../../core/instructions/api-fields.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptTransfer, type AcceptTransfer } from './mutations.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { recipientOf, type AccountName } from '../banks/index.js';
import { NO_NAME, type Enquiries } from './enquiries.js';
import type { IntakeLimit } from './store.js';
import { presentTransfer } from './presenter.js';
import type { CreateTransferBody, TransferBody } from './schema.js';
import type { TransferStarter } from './workflow-starter.js';
import type { Transfer } from './record.js';

/** Accepts or refuses a transfer, and returns the response. A repeat of a key gets the saved response. */
export type CreateTransfer = (
  tenant: Tenant,
  body: CreateTransferBody,
  claim: Claim | null,
  request?: {
    /** Excludes the time of the name enquiry from the request's deadline. */
    withoutDeadline?: WithoutDeadline;
  },
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/**
 * Creates the function that accepts transfers. It makes the name enquiry, commits record, hold, limit, key and response
 * in one transaction, and starts the workflow without waiting for the start. It returns a refusal as a response and does
 * not throw it, because the idempotency key saves refusals too.
 */
export function createTransferCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: TransferStarter;
  enquiries: Enquiries;
  provider: () => string;
  intake: Pick<IntakeLimit, 'check'>;
  clock?: () => Date;
}): CreateTransfer {
  const { groupCommit, starter, enquiries, intake, clock = () => new Date() } = deps;

  return async (tenant, body, claim, request = {}) => {
    const { withoutDeadline = (wait) => wait } = request;
    const provider = deps.provider();
    intake.check(provider);
    const amountMinor = amountWithin(tenant, body);
    const names = await withoutDeadline(enquiries.names(tenant, [{ body, amountMinor }]));
    const named = names[0] ?? NO_NAME;
    if (named.kind === 'not_found') {
      return refuseRequest(groupCommit, {
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
      await groupCommit.commit(acceptTransfer, acceptTransferInput(tenant, transfer, claim)),
    );
    if (outcome.resource === transfer._id) starter.startSoon(transfer);
    if (outcome.resource === null) await enquiries.countRefused(tenant, [named]);
    return outcome;
  };
}

function acceptTransferInput(
  tenant: Tenant,
  transfer: Transfer,
  claim: Claim | null,
): AcceptTransfer {
  return {
    tenantId: tenant.id,
    transfer,
    dailyLimitMinor: tenant.limits.dailyMinor,
    claim,
    answer: successResponse(presentTransfer(transfer)),
  };
}

/** Builds the record of a transfer with everything that does not depend on the commit. */
export function newTransfer(given: {
  tenant: Tenant;
  body: TransferBody;
  amountMinor: bigint;
  /** Answer of the name enquiry. Without a name the workflow repeats the enquiry. */
  named: AccountName;
  provider: string;
  now: Date;
  /** If the workflow is not started within this time, the dispatcher starts it. */
  startWithinMs: number;
  /** Id of the bulk transfer that it is an item of. */
  bulkTransferId?: string;
}): Transfer {
  const { tenant, body, amountMinor, named, now, bulkTransferId } = given;
  const id = newId('transfer');
  const feeMinor = transferFee(amountMinor);
  const { account, bankCode } = recipientOf(body);
  const detail = `the total is held in the wallet${bulkTransferId === undefined ? '' : `; came in ${bulkTransferId}`}`;
  return {
    _id: id,
    tenant_id: tenant.id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    amount_minor: amountMinor,
    fee_minor: feeMinor,
    total_minor: amountMinor + feeMinor,
    currency: body.currency,
    recipient: {
      account,
      bank_code: bankCode,
      name: named.kind === 'found' ? named.name : null,
      bank: named.kind === 'not_found' ? null : named.bankName,
    },
    reference: body.reference ?? id,
    narration: body.narration,
    session_id: null,
    metadata: body.metadata ?? null,
    provider: given.provider,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    first_submitted_at: null,
    acknowledged_at: null,
    next_attempt_at: null,
    failure: null,
    attention: null,
    in_suspense: false,
    monitor_until: null,
    limit_day: lagosDay(now),
    next_check_at: new Date(now.getTime() + given.startWithinMs),
    timeline: [timelineEntry(now, 'accepted', 'api', { detail })],
    created_at: now,
    updated_at: now,
    settled_amount_minor: null,
    completed_at: null,
    reversed_at: null,
  };
}
