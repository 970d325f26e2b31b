import { z } from 'zod';
import { idempotencyKey, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { instructionStatus } from '../../core/instructions/api-fields.js';

const MAX_BULK_ITEMS = 1_000;

/**
 * Accepts any JSON, because an invalid item is refused alone. The document shows `NewTransfer` (`x-ref`), the body that
 * an accepted item has.
 */
const bulkItem = z.unknown().meta({
  override: {
    'x-ref': '#/components/schemas/NewTransfer',
    anyOf: [{ $ref: '#/components/schemas/NewTransfer' }, { $ref: '#/components/schemas/Json' }],
  },
});

/** The body of POST /transfers/bulk. Items are validated one by one, so that an invalid item is refused alone. */
export const bulkTransfersBody = z
  .strictObject({
    transfers: z.array(bulkItem).min(1).max(MAX_BULK_ITEMS).meta({
      description:
        'Each item is a body of `POST /transfers` without `idempotency_key`. An invalid item is refused alone.',
    }),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({
    id: 'NewBulkTransfer',
    description: 'Up to 1,000 transfers, of which each is accepted or refused on its own.',
  });

const bulkTransferItem = z.object({
  index: z.int().min(0),
  reference: z.string().nullable(),
  id: idSchema('transfer')
    .optional()
    .meta({ description: 'Id of the transfer, if the item was accepted.' }),
  status: instructionStatus.optional(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      field: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .optional()
    .meta({ description: 'The reason for which the item was refused.' }),
});

const count = z.int().min(0);

/** A bulk transfer as clients get it. */
export const bulkTransferResource = z
  .object({
    id: idSchema('bulkTransfer'),
    status: z
      .enum(['processing', 'completed'])
      .meta({ description: '`completed` when each of its transfers is `completed` or `failed`.' }),
    counts: z.object({
      total: count,
      accepted: count,
      refused: count,
      pending: count,
      processing: count,
      completed: count,
      failed: count,
    }),
    items: z.array(bulkTransferItem),
    created_at: timestamp('When the bulk transfer was accepted.'),
  })
  .meta({ id: 'BulkTransfer', description: 'A bulk transfer, with the result of each item.' });
