import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/**
 * The search attributes of workflows, for operators who search in the Temporal UI. All are set at the start; only
 * `NeedsAttention` changes later.
 */
export const searchAttributes = {
  tenantId: defineSearchAttributeKey('TenantId', SearchAttributeType.KEYWORD),
  provider: defineSearchAttributeKey('Provider', SearchAttributeType.KEYWORD),
  reference: defineSearchAttributeKey('Reference', SearchAttributeType.KEYWORD),
  amountMinor: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT),
  needsAttention: defineSearchAttributeKey('NeedsAttention', SearchAttributeType.BOOL),
};
