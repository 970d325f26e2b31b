import type { z } from 'zod';
import { ApiError } from '../../shared/errors.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import { validate, amountWithin } from '../../platform/http/validate.js';
import { mapInTurns } from '../../shared/concurrency.js';
import { newId } from '../../shared/ids.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/accept.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptBulkTransfer, type AcceptBulkTransfer } from './mutations.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { itemError, type BulkTransferItem, type BulkTransfer } from './record.js';
import { presentBulkTransfer } from './presenter.js';
import type { bulkTransferResource } from './schema.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import {
  newTransfer,
  NO_NAME,
  transferBody,
  type Enquiries,
  type IntakeLimit,
  type ReadTransfer,
} from '../transfers/index.js';
import type { Transfer } from '../transfers/record.js';

/** Bounds the saved response of a thousand invalid items. */
const MAX_ISSUES_OF_AN_ITEM = 10;

/** Time for the bulk transfer's workflow to submit an item. After it the dispatcher starts a workflow for the item. */
const START_ITEMS_WITHIN_MS = 5 * 60 * 1000;

/** Items that are validated, or built and sealed, in one turn of the event loop: some milliseconds, for which other requests wait. */
const ITEMS_PER_TURN = 100;

/** Accepts or refuses each item, and returns the response. A repeat of a key gets the saved response. */
export type CreateBulkTransfer = (
  tenant: Tenant,
  items: readonly unknown[],
  claim: Claim | null,
  request?: {
    /** Excludes the time of the name enquiries from the request's deadline. */
    withoutDeadline?: WithoutDeadline;
  },
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/**
 * Creates the function that accepts bulk transfers. Bulk transfer, records, holds, limit, key and response are committed
 * in one transaction. Each item is accepted or refused by itself, in the order of the request.
 */
export function createBulkTransferCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: Pick<WorkflowStarter<BulkTransfer>, 'startSoon'>;
  enquiries: Enquiries;
  /** Seals a transfer before the commit. */
  sealAhead: (transfer: Transfer) => void;
  provider: () => string;
  intake: Pick<IntakeLimit, 'check'>;
  clock?: () => Date;
}): CreateBulkTransfer {
  const { groupCommit, starter, enquiries, intake, clock = () => new Date() } = deps;

  return async (tenant, items, claim, request = {}) => {
    const { withoutDeadline = (wait) => wait } = request;
    const provider = deps.provider();
    intake.check(provider);
    const reads = await mapInTurns(ITEMS_PER_TURN, items, (item) => readItem(tenant, item));
    const names = await withoutDeadline(enquiries.names(tenant, reads));
    const now = clock();
    const id = newId('bulkTransfer');
    const transfers: Transfer[] = [];
    const results = await mapInTurns(ITEMS_PER_TURN, reads, (read, i): BulkTransferItem => {
      const named = names[i] ?? NO_NAME;
      if ('error' in read) return refusal(items[i], read.error);
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
      deps.sealAhead(transfer);
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
    // Names are enquired for the transfers that the commit is expected to accept.
    const expectsRefusals = names.some(({ kind }) => kind === 'no_answer');
    const input = acceptBulkTransferInput({
      tenant,
      bulkTransfer,
      transfers,
      expectsRefusals,
      claim,
    });
    const outcome = throwIfKeyReused(await groupCommit.commit(acceptBulkTransfer, input));
    if (outcome.resource !== id) return outcome;
    starter.startSoon(bulkTransfer);
    const refused = refusedItems(outcome.answer);
    await enquiries.countRefused(
      tenant,
      refused.map((i) => names[i]),
    );
    return outcome;
  };
}

/** The indexes of the items that a response shows as refused. */
function refusedItems({ body }: SavedResponse): number[] {
  const { data } = JSON.parse(body) as { data: z.infer<typeof bulkTransferResource> };
  return data.items.flatMap(({ index, error }) => (error ? [index] : []));
}

function readItem(tenant: Tenant, item: unknown): ReadTransfer {
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

function acceptBulkTransferInput(given: {
  tenant: Tenant;
  bulkTransfer: BulkTransfer;
  transfers: Transfer[];
  expectsRefusals: boolean;
  claim: Claim | null;
}): AcceptBulkTransfer {
  const { tenant, ...input } = given;
  return {
    ...input,
    tenantId: tenant.id,
    dailyLimitMinor: tenant.limits.dailyMinor,
    answer: (decided) => successResponse(presentBulkTransfer(decided, new Map())),
  };
}
