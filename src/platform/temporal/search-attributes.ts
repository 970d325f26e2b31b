import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** What operators search by in the Temporal UI. Set at the start of a workflow; only `attention` ever changes. */
export const searchAttributes = {
  tenantId: defineSearchAttributeKey('TenantId', SearchAttributeType.KEYWORD),
  provider: defineSearchAttributeKey('Provider', SearchAttributeType.KEYWORD),
  reference: defineSearchAttributeKey('Reference', SearchAttributeType.KEYWORD),
  amountMinor: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT),
  needsAttention: defineSearchAttributeKey('NeedsAttention', SearchAttributeType.BOOL),
};
