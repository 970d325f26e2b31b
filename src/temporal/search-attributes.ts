import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** What operators search by in the Temporal UI. Set at the start of a workflow; only `attention` ever changes. */
export const searchAttributes = {
  tenant: defineSearchAttributeKey('tenant', SearchAttributeType.KEYWORD),
  provider: defineSearchAttributeKey('provider', SearchAttributeType.KEYWORD),
  reference: defineSearchAttributeKey('reference', SearchAttributeType.KEYWORD),
  amount: defineSearchAttributeKey('amount', SearchAttributeType.INT),
  attention: defineSearchAttributeKey('attention', SearchAttributeType.BOOL),
};
