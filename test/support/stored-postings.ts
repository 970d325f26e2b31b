import type { Posting } from '../../src/core/ledger/posting.js';

/** Postings as they are stored, for an audit of their record. */
export const storedPostings = (postings: readonly Posting[]) =>
  postings.map(({ id, legs }) => ({
    _id: id,
    legs: legs.map(({ account, amountMinor }) => ({ account, amount_minor: amountMinor })),
  }));
