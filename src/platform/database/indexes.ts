const dated = (field: string) => ({
  key: { [field]: 1 as const },
  partialFilterExpression: { [field]: { $type: 'date' } },
});

/** What somebody looks after from then on; see overdue.ts. */
export const nextCheckIndex = dated('next_check_at');
/** What waits for an operator since then. */
export const attentionIndex = dated('attention.since');
