import { ApiError } from '../../shared/errors.js';
import { callerOf, type AppContext } from './context.js';

/** Returns the caller's record. A record of another tenant is `not_found`, so that its existence does not leak. */
export async function ownRecord<R>(
  ctx: AppContext,
  store: { get(tenantId: string, id: string): Promise<R | null> },
  id: string,
): Promise<R> {
  const found = await store.get(callerOf(ctx).tenant.id, id);
  if (!found) throw new ApiError('not_found');
  return found;
}
