import type { z } from 'zod';
import { lagosDay } from '../../core/ledger/wallet.js';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention } from '../../core/instructions/instruction.js';
import type { Card } from '../cards/record.js';
import type { autoReloadResource } from './schema.js';

/** The auto-reload settings of a card for tenants, with the amount used today. */
export function presentAutoReload(
  { _id, auto_reload: reload }: Card,
  now: Date,
): z.infer<typeof autoReloadResource> {
  const amount = (of: bigint | undefined) => (of === undefined ? null : toWireAmount(of));
  return {
    card_id: _id,
    enabled: reload?.enabled ?? false,
    threshold_minor: amount(reload?.threshold_minor),
    amount_minor: amount(reload?.amount_minor),
    daily_cap_minor: amount(reload?.daily_cap_minor),
    used_today_minor:
      reload?.limit_day === lagosDay(now) ? toWireAmount(reload.limit_used_minor) : 0,
    operation_id: reload?.operation_id ?? null,
    refusals: reload?.refusals ?? 0,
    attention: presentAttention(reload?.attention ?? null),
  };
}
