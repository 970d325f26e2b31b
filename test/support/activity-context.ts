import { asyncLocalStorage, type Context, type Info } from '@temporalio/activity';
import { withEmptyParts } from './parts.js';

/** Runs an activity as a worker does, without a server: nothing cancels it. `limitMs`: the limit of its time. */
export const asActivity = <T>(activity: () => Promise<T>, limitMs = 20_000): Promise<T> => {
  const { signal: cancellationSignal } = new AbortController();
  const info = withEmptyParts<Info>({ startToCloseTimeoutMs: limitMs });
  return asyncLocalStorage.run(withEmptyParts<Context>({ cancellationSignal, info }), activity);
};
