import type { Reply } from '../../test/support/tenant.js';
import { createMemory } from './asking.js';
import type { Random } from './random.js';
import type { StormStage, StormTenant } from './stage.js';

export type Read = { of: StormTenant; path: string; id: string };

/** Of all answers to a read only these may be given while something is away. */
const isAway = ({ status }: Reply) => status === 503 || status === 429;

/**
 * Readers of what was answered 2xx: it is there from then on, at any API, whoever dies; and its states only move forward.
 * What says otherwise is among `problems`.
 */
export function createReading(
  stage: StormStage,
  random: Random,
  rank: Record<string, number>,
  problems: string[],
) {
  const memory = createMemory(rank, problems);
  let reads = 0;

  /** Null where nobody answered. */
  async function get<Data>(of: StormTenant, path: string): Promise<Data | null> {
    const api = of.tenant.at(random.pick(stage.service.apis).url);
    const reply = await api.call('GET', path, undefined).catch(() => null);
    if (reply === null || isAway(reply)) return null;
    if (reply.status === 200) return reply.body.data as unknown as Data;
    problems.push(`GET ${path} by its own ${of.tenant.id}: ${reply.status} ${reply.text}`);
    return null;
  }

  return {
    reads: () => reads,
    get,
    /** How it stands. */
    look: async ({ of, path, id }: Read): Promise<string | null> => {
      const before = memory.before(id);
      const found = await get<{ status: string }>(of, path);
      if (!found) return null;
      reads += 1;
      memory.saw(id, before, found.status);
      return found.status;
    },
  };
}
