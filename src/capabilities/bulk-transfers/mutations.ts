import {
  acceptOnce,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { ApiError } from '../../shared/errors.js';
import { admitTransfer, readsOfTransfers } from '../transfers/mutations.js';
import type { Transfer } from '../transfers/record.js';
import { bulkTransfers, refuseItems, type BulkTransfer } from './record.js';

/** A bulk transfer with its transfers: decided one by one, in order, and committed together. */
export type AcceptBulkTransfer = {
  tenantId: string;
  /** The record as it is if the commit refuses no item. */
  bulkTransfer: BulkTransfer;
  /** The transfers to accept, in the order of the request. */
  transfers: Transfer[];
  dailyLimitMinor: bigint;
  /** False if a look before the commit has found that all transfers will be accepted. */
  expectsRefusals: boolean;
  claim: Claim | null;
  /** The response for the bulk transfer with its decided items. */
  answer: (bulkTransfer: BulkTransfer) => SavedResponse;
};

/** Accepts a bulk transfer with its transfers in one commit. Refused transfers do not affect the others. */
export const acceptBulkTransfer: Mutation<AcceptBulkTransfer, AcceptResult> = {
  // As for a single transfer, the first try does not read key and references: the lookup of a thousand is a tenth of the time
  // for which the wallet is held.
  reads: ({ tenantId, bulkTransfer, transfers: items, claim }, full) =>
    full
      ? {
          ...readsOfTransfers(tenantId, items, claim),
          records: [bulkTransfers.ref(bulkTransfer._id)],
        }
      : { wallets: [tenantId] },
  readsFully: ({ expectsRefusals }) => expectsRefusals,
  decide: decideBulk,
  // Heavy enough to be committed alone.
  weigh: ({ bulkTransfer }) => 3_000 * bulkTransfer.items.length,
  long: true,
};

/** Decides each transfer as if it had been accepted alone after those before it, and saves one response for all. */
function decideBulk(uow: UnitOfWork, input: AcceptBulkTransfer, now: Date): AcceptResult {
  return acceptOnce(uow, input, now, {
    collection: bulkTransfers,
    id: input.bulkTransfer._id,
    response: input.answer,
    admit() {
      const refused = new Map<string, ApiError>();
      for (const transfer of input.transfers) {
        const refusal = admitTransfer(uow, input, transfer, now);
        if (refusal) refused.set(transfer._id, refusal);
      }
      if (refused.size > 0) uow.requireFullRead();
      const bulkTransfer = refuseItems(input.bulkTransfer, refused);
      uow.create(bulkTransfers, bulkTransfer);
      return bulkTransfer;
    },
    needsFullRead: true,
  });
}
