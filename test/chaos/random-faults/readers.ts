import type { Reply } from '../../support/tenant.js';
import type { Random } from './random.js';
import type { ChaosCluster, ChaosTenant } from './cluster.js';

/** What a resource that has come to one state may come to next, in one step. */
export type AllowedTransitions = Readonly<Record<string, readonly string[]>>;
/** Where a payment can be taken back by who made it, that is a state of its own: `failed`, and the time of it. */
export type SeenState = { status: string; reversed_at?: string | null };

export type ReadTarget = { of: ChaosTenant; path: string; id: string };

/** Of all answers to a read only these may be given while something is away. */
const isAway = ({ status }: Reply) => status === 503 || status === 429;

/**
 * Readers of what was answered 2xx: it is there from then on, at any API, whoever dies; and its states only move forward,
 * as their course has it. What says otherwise is among `problems`.
 */
export function createStateReader(
  cluster: ChaosCluster,
  random: Random,
  course: AllowedTransitions,
  problems: string[],
) {
  const memory = createMemory(course, problems);
  let reads = 0;

  /** Null where nobody answered. */
  async function get<Data>(of: ChaosTenant, path: string): Promise<Data | null> {
    const api = of.tenant.at(random.pick(cluster.service.apis).url);
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
    look: async ({ of, path, id }: ReadTarget): Promise<string | null> => {
      const before = memory.before(id);
      const found = await get<SeenState>(of, path);
      if (!found) return null;
      reads += 1;
      memory.saw(id, before, found.reversed_at ? 'reversed' : found.status);
      return found.status;
    },
  };
}

/** The furthest that anybody has seen of each. */
function createMemory(course: AllowedTransitions, problems: string[]) {
  const seen = new Map<string, string>();
  return {
    /** What was known before a read is sent: another reader may see more while it is under way. */
    before: (id: string) => seen.get(id),
    saw(id: string, before: string | undefined, state: string): void {
      if (!course[state]) problems.push(`${id} is ${state}, which is no state`);
      if (before !== undefined && !leadsTo(course, before, state)) {
        problems.push(`${id} was ${before}, and then ${state}`);
      }
      const known = seen.get(id);
      if (known === undefined || leadsTo(course, known, state)) seen.set(id, state);
    },
  };
}

/** In any number of steps: who reads now and then misses some. */
function leadsTo(course: AllowedTransitions, from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const state of reached) for (const next of course[state] ?? []) reached.add(next);
  return reached.has(to);
}
