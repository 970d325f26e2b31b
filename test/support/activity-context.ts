import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { withEmptyParts } from './parts.js';

/** Runs an activity as a worker does, without a server: nothing cancels it. */
export const asActivity = <T>(activity: () => Promise<T>): Promise<T> => {
  const { signal: cancellationSignal } = new AbortController();
  return asyncLocalStorage.run(withEmptyParts<Context>({ cancellationSignal }), activity);
};
