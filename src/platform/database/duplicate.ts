import { MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11_000;

/** Tells whether a unique index refused the write. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;
