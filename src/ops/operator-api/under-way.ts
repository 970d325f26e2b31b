import type { AppContext } from '../../platform/http/context.js';
import { noSuch } from './schema.js';
import { operatorOf } from './sign-in.js';

type Counts = Record<string, number>;

/** The counts of long requests of one kind in this process, for the operator of each. Of two, the later one is shown. */
export function createUnderWay() {
  const running = new Map<string, () => Counts>();
  return {
    /** Does the work of a request, whose operator may read its counts meanwhile. */
    async during<T>(ctx: AppContext, counts: () => Counts, work: () => Promise<T>): Promise<T> {
      const { id } = operatorOf(ctx);
      running.set(id, counts);
      try {
        return await work();
      } finally {
        if (running.get(id) === counts) running.delete(id);
      }
    },

    /** The present counts of this operator's request. Throws `not_found` if none is under way in this process. */
    countsFor(ctx: AppContext): Counts {
      const counts = running.get(operatorOf(ctx).id);
      if (!counts) throw noSuch('request under way');
      return counts();
    },
  };
}
