import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import type { Card } from './card.js';
import type { Cards } from './store.js';

/** The caller's card of that id; another tenant's is not found either. */
export const cardFinder =
  (cards: Pick<Cards, 'get'>) =>
  async (ctx: Context, id: string): Promise<Card> => {
    const found = await cards.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  };
