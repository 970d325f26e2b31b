import type { Reply } from '../../support/tenant.js';
import type { Random } from './random.js';
import type { ChaosCluster, ChaosTenant } from './cluster.js';

/** For each state of a resource, the states that may follow it directly. */
export type AllowedTransitions = Readonly<Record<string, readonly string[]>>;
/** A reversed payment has the status `failed` and a time of reversal; readers treat it as a state of its own. */
export type ReadState = { status: string; reversed_at?: string | null };

export type ReadTarget = { of: ChaosTenant; path: string; id: string };

/** The only error answers that a read may get while a process or a database is down. */
const isAway = ({ status }: Reply) => status === 503 || status === 429;

/**
 * Readers of accepted resources. A resource that was answered 2xx exists at every API from then on, and its states only
 * follow the allowed transitions. Violations are added to `problems`.
 */
export function createStateReader(
  cluster: ChaosCluster,
  random: Random,
  allowed: AllowedTransitions,
  problems: string[],
) {
  const memory = createMemory(allowed, problems);
  let reads = 0;

  /** Null if no API answered. */
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
    /** Reads the resource's status, and checks it against the statuses that readers saw before. */
    look: async ({ of, path, id }: ReadTarget): Promise<string | null> => {
      const before = memory.before(id);
      const found = await get<ReadState>(of, path);
      if (!found) return null;
      reads += 1;
      memory.saw(id, before, found.reversed_at ? 'reversed' : found.status);
      return found.status;
    },
  };
}

/** The latest state that any reader has read, by resource. */
function createMemory(allowed: AllowedTransitions, problems: string[]) {
  const latest = new Map<string, string>();
  return {
    /** The state known before a read is sent, because another reader may see a later one while it is in flight. */
    before: (id: string) => latest.get(id),
    saw(id: string, before: string | undefined, state: string): void {
      if (!allowed[state]) problems.push(`${id} is ${state}, which is no state`);
      if (before !== undefined && !leadsTo(allowed, before, state)) {
        problems.push(`${id} was ${before}, and then ${state}`);
      }
      const known = latest.get(id);
      if (known === undefined || leadsTo(allowed, known, state)) latest.set(id, state);
    },
  };
}

/** True if `to` follows `from` in any number of steps: readers poll, and miss some states. */
function leadsTo(allowed: AllowedTransitions, from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const state of reached) for (const next of allowed[state] ?? []) reached.add(next);
  return reached.has(to);
}
