import { MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11_000;

/** Whether a unique index refused the write: somebody else was there first. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;
