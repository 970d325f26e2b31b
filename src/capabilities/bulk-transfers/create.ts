import { ApiError } from '../../shared/errors.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import { validate } from '../../platform/http/validate.js';
import { newId } from '../../shared/ids.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/saved-response.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptBulkTransfer, type AcceptBulkTransfer } from './mutations.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { itemError, type BulkTransferItem, type BulkTransfer } from './bulk-transfer.js';
import { presentBulkTransfer } from './presenter.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import { NO_ENQUIRY_LIMIT, type EnquiryLimit, type NameEnquiry } from '../banks/index.js';
import { enquireNames, NO_NAME, type ItemName, type ReadItem } from './names.js';
import { amountWithin } from '../../core/instructions/api-fields.js';
import { newTransfer, transferBody, type IntakeLimit } from '../transfers/index.js';
import type { Transfer } from '../transfers/transfer.js';

/** Bounds the saved response of a thousand invalid items. */
const MAX_ISSUES_OF_AN_ITEM = 10;

/** Time for the bulk transfer's workflow to submit an item. After it the dispatcher starts a workflow for the item. */
const START_ITEMS_WITHIN_MS = 5 * 60 * 1000;

/** Accepts or refuses each item, and returns the response. A repeat of a key gets the saved response. */
export type CreateBulkTransfer = (
  tenant: Tenant,
  items: readonly unknown[],
  claim: Claim | null,
  request?: {
    /** Excludes the time of the name enquiries from the request's deadline. */
    withoutDeadline?: WithoutDeadline;
    enquiries?: EnquiryLimit;
  },
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/**
 * Creates the function that accepts bulk transfers. Bulk transfer, records, holds, limit, key and response are committed
 * in one transaction. Each item is accepted or refused by itself, in the order of the request.
 */
export function createBulkTransferCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: Pick<WorkflowStarter<BulkTransfer>, 'startSoon'>;
  nameEnquiry: NameEnquiry;
  /** The available amount of a tenant's wallet. */
  availableMinor: (tenantId: string) => Promise<bigint>;
  provider: () => string;
  intake: Pick<IntakeLimit, 'check'>;
  clock?: () => Date;
}): CreateBulkTransfer {
  const { groupCommit, starter, nameEnquiry, intake, clock = () => new Date() } = deps;

  return async (tenant, items, claim, request = {}) => {
    const { withoutDeadline = (wait) => wait, enquiries = NO_ENQUIRY_LIMIT } = request;
    intake.check();
    const provider = deps.provider();
    const reads = items.map((item) => readItem(tenant, item));
    const availableMinor = await deps.availableMinor(tenant.id);
    const names = await withoutDeadline(
      enquireNames(reads, { nameEnquiry, availableMinor, limit: enquiries }),
    );
    const now = clock();
    const id = newId('bulkTransfer');
    const transfers: Transfer[] = [];
    const results = reads.map((read, i): BulkTransferItem => {
      const named = names[i] ?? NO_NAME;
      if ('error' in read) return refusal(items[i], read.error);
      if (named.kind === 'refused') return refusal(items[i], named.error);
      if (named.kind === 'not_found') return refusal(items[i], new ApiError('invalid_account'));
      // The bulk transfer's workflow skips an item without a name; the item's own workflow repeats the enquiry.
      const startWithinMs = named.kind === 'found' ? START_ITEMS_WITHIN_MS : START_WITHIN_MS;
      const transfer = newTransfer({
        ...read,
        tenant,
        named,
        provider,
        now,
        startWithinMs,
        bulkTransferId: id,
      });
      transfers.push(transfer);
      return { reference: transfer.reference, id: transfer._id, error: null };
    });
    const next_check_at = new Date(now.getTime() + START_WITHIN_MS);
    const bulkTransfer = {
      _id: id,
      tenant_id: tenant.id,
      provider,
      items: results,
      next_check_at,
      created_at: now,
    };
    let decided: readonly BulkTransferItem[] = results;
    const outcome = throwIfKeyReused(
      await groupCommit.commit(
        acceptBulkTransfer,
        acceptBulkTransferInput({ tenant, bulkTransfer, transfers, claim }, (items) => {
          decided = items;
        }),
      ),
    );
    if (outcome.resource === id) starter.startSoon(bulkTransfer);
    await enquiries.count(refusedWithName(names, results, decided));
    return outcome;
  };
}

/** Number of items that the commit refused although their account exists: the caller learns that from the refusal. */
const refusedWithName = (
  names: readonly ItemName[],
  before: readonly BulkTransferItem[],
  after: readonly BulkTransferItem[],
): number =>
  names.filter((named, i) => {
    const isRefused = before[i]?.id !== null && after[i]?.id === null;
    return isRefused && named.kind === 'found' && !named.isCounted;
  }).length;

function readItem(tenant: Tenant, item: unknown): ReadItem {
  try {
    const body = validate(transferBody, item, 'body', MAX_ISSUES_OF_AN_ITEM);
    return { body, amountMinor: amountWithin(tenant, body) };
  } catch (error) {
    if (error instanceof ApiError) return { error };
    throw error;
  }
}

/** Returns a refused item with its reference, if it has a valid one, because clients find an item by its reference. */
function refusal(item: unknown, error: ApiError): BulkTransferItem {
  const given = typeof item === 'object' && item !== null && 'reference' in item && item.reference;
  const reference = typeof given === 'string' && given.length <= 100 ? given : null;
  return { reference, id: null, error: itemError(error) };
}

function acceptBulkTransferInput(
  given: {
    tenant: Tenant;
    bulkTransfer: BulkTransfer;
    transfers: Transfer[];
    claim: Claim | null;
  },
  onDecided: (items: readonly BulkTransferItem[]) => void,
): AcceptBulkTransfer {
  const { tenant, bulkTransfer, transfers, claim } = given;
  return {
    tenantId: tenant.id,
    bulkTransfer,
    transfers,
    dailyLimitMinor: tenant.limits.dailyMinor,
    claim,
    answer(decided) {
      onDecided(decided.items);
      return successResponse(presentBulkTransfer(decided, new Map()));
    },
  };
}
