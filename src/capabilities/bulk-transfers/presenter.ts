import type { z } from 'zod';
import type { TransferStatus } from '../transfers/record.js';
import { idsOf, type BulkTransfer } from './record.js';
import type { bulkTransferResource } from './schema.js';

/** Presents a bulk transfer. A transfer that `statuses` does not name counts as pending. */
export function presentBulkTransfer(
  bulkTransfer: BulkTransfer,
  statuses: ReadonlyMap<string, TransferStatus>,
): z.infer<typeof bulkTransferResource> {
  const statusOf = (id: string) => statuses.get(id) ?? 'pending';
  const ids = idsOf(bulkTransfer);
  const count = (status: TransferStatus) => ids.filter((id) => statusOf(id) === status).length;
  const counts = {
    total: bulkTransfer.items.length,
    accepted: ids.length,
    refused: bulkTransfer.items.length - ids.length,
    pending: count('pending'),
    processing: count('processing'),
    completed: count('completed'),
    failed: count('failed'),
  };
  return {
    id: bulkTransfer._id,
    status: counts.pending + counts.processing > 0 ? 'processing' : 'completed',
    counts,
    items: bulkTransfer.items.map(({ reference, id, error }, index) =>
      id === null
        ? { index, reference, ...(error && { error: { ...error } }) }
        : { index, reference, id, status: statusOf(id) },
    ),
    created_at: bulkTransfer.created_at.toISOString(),
  };
}
