import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { ApiError } from '../../shared/errors.js';

/** The reason why an item was refused, in the form of the API. `details` is JSON. */
type ItemError = {
  code: string;
  message: string;
  field?: string;
  details?: Record<string, unknown>;
};

/** One item of a bulk transfer, at its index in the request: the accepted transfer, or the reason of the refusal. */
export type BulkTransferItem = {
  /** The client's reference, or the transfer's id without one. Null if a refused item has no valid reference. */
  reference: string | null;
  id: string | null;
  error: ItemError | null;
};

/** Transfers that arrived in one request and are first submitted together. Each then has its own outcome. */
export type BulkTransfer = {
  _id: string;
  tenant_id: string;
  provider: string;
  items: BulkTransferItem[];
  /** Time after which the dispatcher starts the workflow; null after all items were submitted or scheduled. */
  next_check_at: Date | null;
  created_at: Date;
};

/** The id of the workflow that submits the transfers of a bulk transfer. */
export const bulkTransferWorkflowId = (id: string) => `bulk-transfer/${id}`;

/** Returns the ids of the accepted transfers, in the order of the request. */
export const idsOf = (bulkTransfer: Pick<BulkTransfer, 'items'>): string[] =>
  bulkTransfer.items.flatMap(({ id }) => (id === null ? [] : [id]));

/** Returns the stored form of a refusal, without its HTTP status. */
export const itemError = ({ code, message, field, details }: ApiError): ItemError => ({
  code,
  message,
  ...(field !== undefined && { field }),
  ...(details !== undefined && { details }),
});

/** Marks the items refused that the commit refused. `refused` is keyed by the id of the transfer. */
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

/** The collection of bulk transfers. */
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
  indexes: [{ key: { tenant_id: 1, created_at: 1 } }, ...supervisionIndexes],
});
