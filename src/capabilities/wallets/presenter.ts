import type { z } from 'zod';
import type { readBalance } from '../../core/ledger/balance.js';
import type { Entry } from './entries.js';
import type { balanceResource, entryResource } from './schema.js';

/** A balance as tenants get it. */
export const presentBalance = (
  { availableMinor, heldMinor, receivableMinor }: Awaited<ReturnType<typeof readBalance>>,
  at: Date,
): z.infer<typeof balanceResource> => ({
  available_minor: Number(availableMinor),
  held_minor: Number(heldMinor),
  owed_minor: Number(receivableMinor),
  currency: 'NGN',
  as_of: at.toISOString(),
});

/** An entry of a statement as tenants get it. */
export const presentEntry = (entry: Entry): z.infer<typeof entryResource> => ({
  id: entry.id,
  type: entry.type,
  movement: entry.movement,
  amount_minor: Number(entry.amountMinor),
  currency: 'NGN',
  resource: entry.resource,
  created_at: entry.at.toISOString(),
});
