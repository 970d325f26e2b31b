import type { z } from 'zod';
import { lagosDay } from '../../ledger/wallet.js';
import { toWireAmount } from '../../money.js';
import { presentAttention } from '../../pursuits/resource.js';
import type { Card } from '../card.js';
import type { autoReloadResource } from './api.js';

export function presentAutoReload(
  { _id, reload }: Card,
  now: Date,
): z.infer<typeof autoReloadResource> {
  const amount = (of: bigint | undefined) => (of === undefined ? null : toWireAmount(of));
  return {
    card_id: _id,
    enabled: reload?.enabled ?? false,
    threshold_minor: amount(reload?.threshold_minor),
    amount_minor: amount(reload?.amount_minor),
    daily_cap_minor: amount(reload?.daily_cap_minor),
    used_today_minor: reload?.day === lagosDay(now) ? toWireAmount(reload.day_minor) : 0,
    operation_id: reload?.operation ?? null,
    refusals: reload?.refusals ?? 0,
    attention: presentAttention(reload?.attention ?? null),
  };
}
