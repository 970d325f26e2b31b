/** Part of a provider's calls per second that workflows may make where they run, without the provider's queue. */
export const HERE_SHARE = 0.25;
/** Such calls to one provider at once in one process: a slow one never takes all the room there is. */
const AT_ONCE = 20;
/** And to all of them, so that two slow ones don't either: fewer than the turns of workflows a process has (worker.ts). */
const ALL_AT_ONCE = 24;
/** A provider that was slower than this, or silent, is left to its queue for a while; each time in a row twice as long. */
const SLOW_MS = 1_000;
const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 10_000;

export type FirstTries = {
  /** Leave to call the provider from here, at once; to be told how that went. Null: use its queue. */
  enter(provider: string): ((answer: { answered: boolean }) => void) | null;
  /** Whether nothing but too many at once keeps one out, so that it is worth waiting a moment. */
  hasRoomSoon(provider: string): boolean;
};

type Place = { tokens: number; at: number; running: number; restMs: number; restsUntil: number };

/**
 * Who may send an order where its workflow runs: that spares the provider's queue, and half of the history with it.
 * The queue is what keeps a provider's rate and keeps a slow provider from holding back the others, so both are kept
 * here: a share of the rate that all processes divide among them, a bound on what runs at once, and a rest for whoever
 * is slow. `workers` is how many processes there are; 0 is not known yet, and then nobody enters.
 */
export function createFirstTries({
  providers,
  workers,
  now = () => performance.now(),
}: {
  providers: readonly { name: string; callsPerSecond: number }[];
  workers: () => number;
  now?: () => number;
}): FirstTries {
  const rates = new Map(providers.map(({ name, callsPerSecond }) => [name, callsPerSecond]));
  const places = new Map<string, Place>();

  function placeOf(provider: string): Place {
    const place = places.get(provider) ?? {
      tokens: 0,
      at: now(),
      running: 0,
      restMs: 0,
      restsUntil: 0,
    };
    places.set(provider, place);
    return place;
  }

  const runningAnywhere = () => [...places.values()].reduce((sum, { running }) => sum + running, 0);

  /** What has come since is added; at most what a second brings is kept. */
  function refill(place: Place, perSecond: number): void {
    const at = now();
    const added = ((at - place.at) / 1_000) * perSecond;
    place.tokens = Math.min(place.tokens + added, Math.max(perSecond, 1));
    place.at = at;
  }

  /** Calls that were under way together fail together: who rests already is not sent to rest again. */
  function leave(place: Place, isWell: boolean): void {
    place.running -= 1;
    if (isWell) place.restMs = 0;
    else if (now() >= place.restsUntil) {
      place.restMs = Math.min(Math.max(2 * place.restMs, FIRST_REST_MS), MAX_REST_MS);
      place.restsUntil = now() + place.restMs;
    }
  }

  return {
    enter(provider) {
      const sharers = workers();
      const rate = rates.get(provider);
      if (sharers === 0 || rate === undefined) return null;
      const place = placeOf(provider);
      refill(place, (rate * HERE_SHARE) / sharers);
      const isFull = runningAnywhere() >= ALL_AT_ONCE || place.running >= AT_ONCE;
      if (place.tokens < 1 || isFull || now() < place.restsUntil) return null;
      place.tokens -= 1;
      place.running += 1;
      const began = now();
      return ({ answered }) => leave(place, answered && now() - began <= SLOW_MS);
    },
    hasRoomSoon: (provider) =>
      workers() > 0 && rates.has(provider) && now() >= placeOf(provider).restsUntil,
  };
}

/** For processes that leave every call to the queue. */
export const noFirstTries: FirstTries = { enter: () => null, hasRoomSoon: () => false };
