import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.js';
import { groupBy } from '../../shared/group.js';
import type { RateLimit } from '../../platform/temporal/queues.js';

/**
 * Kinds of calls that share the rate of a provider: first submissions in the workflow's own process (`first`), calls of the
 * provider's task queue (`queued`), bulk transfers and the scheduled reconciliation.
 */
export type CallKind = 'first' | 'queued' | 'bulk' | 'reconciliation';

/** The part of a provider's rate that each kind always has. What one does not use is lent to the others. */
const SHARES: Record<CallKind, number> = { first: 0.25, queued: 0.75, bulk: 0, reconciliation: 0 };
const SHARES_WITH_BULK = { first: 0.25, queued: 0.2, bulk: 0.5, reconciliation: 0.05 };

/** Calls that a kind may save for later, in seconds of its share: a pause allows no burst. */
const SAVED_SECONDS = 0.25;
/** Calls that nobody uses, in seconds of the whole rate: those that only first submissions may borrow, and the others. */
const LENT_SECONDS = { first: 0.0625, others: 0.125 };

/** Calls in a row without a usable answer after which a provider counts as down. */
const DOWN_AFTER = 5;
/** Pause before the next call of one process to a provider that is down. It doubles with each call. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** Pause between two attempts of a call that waits for its turn. */
const RETRY_MS = 20;

/** The state of one provider. `saved`: calls of each kind; `lent`: those of all kinds that nobody has used. */
type Provider = {
  perSecond: number;
  shares: Record<CallKind, number>;
  saved: Record<CallKind, number>;
  lent: number;
  at: number;
  unanswered: number;
  pauseMs: number;
  nextCallAt: number;
};

/** A provider with the calls of the time until now. `rate`: calls per second of this process. */
type FilledProvider = Provider & { rate: number };

/** Decides in one process when a provider may be called. Providers are named by their rate-limit key. */
export type CallRates = ReturnType<typeof createCallRates>;

/**
 * Keeps the calls of all processes within each provider's rate: each process has its part, by the number of processes
 * (`workers`; 0 while it is unknown, which allows no call). Unused calls are lent between kinds. A provider that gives no
 * usable answer several times in a row is down (a circuit breaker): it then gets single calls with growing pauses, until one
 * of them is answered.
 */
export function createCallRates({
  limits,
  workers,
  log,
  now = () => performance.now(),
}: {
  limits: readonly RateLimit[];
  workers: () => number;
  log?: Log;
  now?: () => number;
}) {
  const providers = providersOf(limits, now());
  let lastKnown = 0;

  /** The provider with the calls of the time that has passed; null if nothing is known about it. */
  function providerOf(name: string): FilledProvider | null {
    const provider = providers.get(name);
    lastKnown = workers() || lastKnown;
    if (!provider || lastKnown === 0) return null;
    const rate = provider.perSecond / lastKnown;
    refill(provider, rate, now());
    return Object.assign(provider, { rate });
  }

  function isAllowed(name: string, kind: CallKind, aside = 0): boolean {
    const provider = providerOf(name);
    return provider !== null && !(kind === 'first' && workers() === 0)
      ? mayCall(provider, kind, { aside, at: now() })
      : false;
  }

  function spend(name: string, kind: CallKind): void {
    const provider = providerOf(name);
    if (provider) countCall(provider, kind, now());
  }

  function take(name: string, kind: CallKind): boolean {
    if (!isAllowed(name, kind)) return false;
    spend(name, kind);
    return true;
  }

  return {
    /** True if a call of this kind may be made now, in addition to those that are set aside already. */
    isAllowed,

    /** Counts a call. While the provider is down, the next one has to wait. */
    spend,

    /** Counts a call and returns true, if it may be made now. */
    take,

    /** Waits until the call may be made and counts it. Returns false if that takes longer than `withinMs`. */
    async takeWithin(
      name: string,
      kind: CallKind,
      withinMs: number,
      signal: AbortSignal,
    ): Promise<boolean> {
      const giveUpAt = now() + withinMs;
      while (!take(name, kind)) {
        if (now() >= giveUpAt) return false;
        await sleep(RETRY_MS, undefined, { signal });
      }
      return true;
    },

    /** Notes whether a call had a usable answer. */
    answered(name: string, usable: boolean): void {
      const provider = providers.get(name);
      if (!provider) return;
      const wasDown = isDown(provider);
      provider.unanswered = usable ? 0 : provider.unanswered + 1;
      if (wasDown === isDown(provider)) return;
      if (wasDown) return log?.info({ provider: name }, 'provider answers again');
      log?.warn({ provider: name }, 'provider does not answer, its calls wait');
      pause(provider, FIRST_PAUSE_MS, now());
    },

    /** Notes that a counted call was not made: while the provider is down, another one may be made in its place. */
    unused(name: string): void {
      const provider = providers.get(name);
      if (provider) provider.nextCallAt = Math.min(provider.nextCallAt, now());
    },

    /** True if the provider and the number of processes are known. */
    isKnown: (name: string): boolean => workers() > 0 && providers.has(name),
  };
}

/** The state of each limit. Limits with one bucket share theirs, at the slowest rate of them. */
function providersOf(limits: readonly RateLimit[], at: number): Map<string, Provider> {
  const buckets = groupBy(limits, ({ name, bucket }) => bucket ?? name);
  return new Map(
    [...buckets.values()].flatMap((sharing) => {
      const provider = newProvider(sharing, at);
      return sharing.map(({ name }): [string, Provider] => [name, provider]);
    }),
  );
}

const newProvider = (sharing: readonly RateLimit[], at: number): Provider => ({
  perSecond: Math.min(...sharing.map(({ callsPerSecond }) => callsPerSecond)),
  shares: sharing.some(({ bulkTransfersOf }) => bulkTransfersOf !== null)
    ? SHARES_WITH_BULK
    : SHARES,
  saved: { first: 0, queued: 0, bulk: 0, reconciliation: 0 },
  lent: 0,
  at,
  unanswered: 0,
  pauseMs: 0,
  nextCallAt: 0,
});

const isDown = ({ unanswered }: Provider): boolean => unanswered >= DOWN_AFTER;

function pause(provider: Provider, ms: number, at: number): void {
  provider.pauseMs = Math.min(ms, LONGEST_PAUSE_MS);
  provider.nextCallAt = at + provider.pauseMs;
}

/** True if one more call may be made beside those that are set aside. A provider that is down gets one at a time. */
function mayCall(
  provider: FilledProvider,
  kind: CallKind,
  { aside, at }: { aside: number; at: number },
): boolean {
  if (isDown(provider) && (aside > 0 || at < provider.nextCallAt)) return false;
  return Math.floor(provider.saved[kind]) + borrowable(provider, kind) - aside >= 1;
}

function countCall(provider: FilledProvider, kind: CallKind, at: number): void {
  if (provider.saved[kind] < 1 && borrowable(provider, kind) >= 1) provider.lent -= 1;
  else provider.saved[kind] -= 1;
  if (isDown(provider)) pause(provider, 2 * provider.pauseMs, at);
}

/** Calls that only first submissions may borrow, so that they find some beside kinds that always wait for more. */
const keptForFirst = (rate: number): number => Math.max(1, LENT_SECONDS.first * rate);

/** Calls that a kind may borrow now. */
const borrowable = ({ lent, rate }: FilledProvider, kind: CallKind): number =>
  Math.max(0, Math.floor(lent - (kind === 'first' ? 0 : keptForFirst(rate))));

/** Gives each kind the calls of the time since the last refill. What a kind cannot save is lent. */
function refill(provider: Provider, rate: number, at: number): void {
  const { shares, saved } = provider;
  const seconds = (at - provider.at) / 1_000;
  provider.at = at;
  let left = 0;
  for (const kind of Object.keys(shares) as CallKind[]) {
    const share = shares[kind] * rate;
    const full = share === 0 ? 0 : Math.max(1, share * SAVED_SECONDS);
    const filled = saved[kind] + share * seconds;
    saved[kind] = Math.min(filled, full);
    left += filled - saved[kind];
  }
  const most = keptForFirst(rate) + Math.max(2, LENT_SECONDS.others * rate);
  provider.lent = Math.min(provider.lent + left, most);
}
