const dated = (field: string) => ({
  key: { [field]: 1 as const },
  partialFilterExpression: { [field]: { $type: 'date' } },
});

/** Partial index on `next_check_at`: records whose workflow must be checked; see core/supervision. */
export const nextCheckIndex = dated('next_check_at');
/** Partial index on `stalled.since`: records whose workflow was started without an effect; see core/supervision. */
const stalledIndex = dated('stalled.since');
/** Partial index on `attention.since`: records that wait for an operator. */
export const attentionIndex = dated('attention.since');

/** The indexes of every collection whose workflows are supervised. */
export const supervisionIndexes = [nextCheckIndex, attentionIndex, stalledIndex];

/** The condition of a text in a partial index, which MongoDB uses only if the query names the type that the index does. */
export const textEquals = (text: string) => ({ $eq: text, $type: 'string' as const });
