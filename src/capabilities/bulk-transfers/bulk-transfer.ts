import { nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { ApiError } from '../../shared/errors.js';

/** Why an item was refused, as its caller is told. `details` is JSON. */
export type ItemError = {
  code: string;
  message: string;
  field?: string;
  details?: Record<string, unknown>;
};

/** One item of a batch, at its caller's index: a transfer that was accepted, or why it was not. */
export type BulkTransferItem = {
  /** The caller's own, or the id where it gave none; null where a refused item had none that could be read. */
  reference: string | null;
  id: string | null;
  error: ItemError | null;
};

/** Transfers that came in one request. Each goes its own way: the batch is how they came, and how they leave together. */
export type BulkTransfer = {
  _id: string;
  tenant_id: string;
  provider: string;
  items: BulkTransferItem[];
  /** When the sweep makes sure that a workflow lets the batch out; null once that is done. */
  next_check_at: Date | null;
  created_at: Date;
};

/** The workflow that lets the orders of a batch out. */
export const bulkTransferWorkflowId = (id: string) => `bulk-transfer/${id}`;

export const idsOf = (bulkTransfer: Pick<BulkTransfer, 'items'>): string[] =>
  bulkTransfer.items.flatMap(({ id }) => (id === null ? [] : [id]));

export const itemError = ({ code, message, field, details }: ApiError): ItemError => ({
  code,
  message,
  ...(field !== undefined && { field }),
  ...(details !== undefined && { details }),
});

/** The batch with those refused that could not be accepted after all, by their ids. */
export function refuseItems(
  bulkTransfer: BulkTransfer,
  refused: ReadonlyMap<string, ApiError>,
): BulkTransfer {
  const items = bulkTransfer.items.map((item) => {
    const error = item.id === null ? undefined : refused.get(item.id);
    if (!error) return item;
    const reference = item.reference === item.id ? null : item.reference;
    return { reference, id: null, error: itemError(error) };
  });
  return { ...bulkTransfer, items };
}

/** Bulk transfers, each with the list of its items. */
export const bulkTransfers = collection<BulkTransfer>('bulk_transfers', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'provider', 'items', 'created_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      items: { bsonType: 'array', minItems: 1 },
      created_at: { bsonType: 'date' },
    },
  },
  indexes: [nextCheckIndex],
});
