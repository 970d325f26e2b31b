import type { z } from 'zod';
import type { readBalance } from '../../core/ledger/balance.js';
import type { PostingDocument } from '../../core/ledger/collections.js';
import { accounts } from '../../core/ledger/posting.js';
import { ENTRY_TYPES, postingIds, type balanceResource, type entryResource } from './schema.js';

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

/** A posting as an entry of its tenant's statement. */
export function presentEntry({
  _id: id,
  tenant_id: tenantId,
  legs,
  at,
}: PostingDocument): z.infer<typeof entryResource> {
  const changeOf = (account: string) =>
    legs.reduce((sum, leg) => (leg.account === account ? sum + leg.amount_minor : sum), 0n);
  const amountMinor = changeOf(accounts.available(tenantId));
  const [resource = '', step = ''] = id.split('/', 2);
  const type = ENTRY_TYPES.find((each) => postingIds(each).test(id)) ?? 'other';
  const isCredit = type === 'credit';
  const ofHoldMinor = -changeOf(accounts.held(tenantId));
  return {
    id,
    type,
    movement: isCredit ? 'credit' : movementOf(step, { amountMinor, ofHoldMinor }),
    amount_minor: Number(amountMinor),
    currency: 'NGN',
    resource: isCredit ? null : resource,
    created_at: at.toISOString(),
  };
}

/**
 * The name of a step for people. The end of a hold is a release if all of it returns, otherwise a capture. If the hold was not of
 * the wallet, but of a card, the balance of the card has returned.
 */
function movementOf(
  step: string,
  { amountMinor, ofHoldMinor }: { amountMinor: bigint; ofHoldMinor: bigint },
): string {
  if (step === 'resolve' && ofHoldMinor === 0n) return 'balance_return';
  if (step === 'resolve') return amountMinor === ofHoldMinor ? 'release' : 'capture';
  const [name = ''] = /^[a-z]+(?:-[a-z]+)*/.exec(step) ?? [];
  return name.replaceAll('-', '_');
}
