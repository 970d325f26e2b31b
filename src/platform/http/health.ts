import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import { readVersion } from '../../shared/version.js';
import type { Middleware } from './context.js';
import { passUncounted } from './rate-limit.js';
import { sendData } from './respond.js';

/** Resolves when the dependency works, and rejects when it does not. */
export type HealthCheck = () => Promise<unknown>;

const CHECK_WITHIN_MS = 2_000;
/** Probes come without a key and as often as their sender likes, so the checks run once in this time. */
const KEPT_MS = 1_000;

/** The health endpoints of a process. */
export type Health = ReturnType<typeof createHealth>;

/**
 * Serves `/health/live` (the process answers, with its release) and `/health/ready` (every named check passes in time, and the process is
 * not stopping). The answer names a failed check; the reason is in the log. The results of the checks are kept for a
 * second, from the beginning of the checks.
 */
export function createHealth({
  checks,
  log,
  checkWithinMs = CHECK_WITHIN_MS,
  keptMs = KEPT_MS,
}: {
  checks: Record<string, HealthCheck>;
  log: Log;
  checkWithinMs?: number;
  keptMs?: number;
}) {
  const live = { status: 'live', version: readVersion() };
  let draining = false;
  let kept: { results: ReturnType<typeof runAll>; untilMs: number } | null = null;

  async function run(
    name: string,
    check: HealthCheck,
  ): Promise<readonly [string, 'ok' | 'failed']> {
    const stop = new AbortController();
    try {
      await Promise.race([check(), expire(checkWithinMs, stop.signal)]);
      return [name, 'ok'];
    } catch (error) {
      log.warn({ err: error, check: name }, 'health check failed');
      return [name, 'failed'];
    } finally {
      stop.abort();
    }
  }

  const runAll = () => Promise.all(Object.entries(checks).map(([name, check]) => run(name, check)));

  async function readiness() {
    const nowMs = performance.now();
    if (kept === null || nowMs >= kept.untilMs) {
      kept = { results: runAll(), untilMs: nowMs + keptMs };
    }
    const results = await kept.results;
    const ready = !draining && results.every(([, result]) => result === 'ok');
    const status = draining ? 'draining' : ready ? 'ready' : 'not_ready';
    return { ready, report: { status, checks: Object.fromEntries(results) } };
  }

  const middleware: Middleware = async (ctx, next) => {
    if (ctx.path !== '/health/live' && ctx.path !== '/health/ready') return next();
    passUncounted(ctx);
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new ApiError('method_not_allowed');
    }
    if (ctx.path === '/health/live') return sendData(ctx, 200, live);
    const { ready, report } = await readiness();
    if (ready) return sendData(ctx, 200, report);
    throw new ApiError('service_unavailable', { message: 'Not ready.', details: report });
  };

  return {
    middleware,
    /** Reports "not ready" from now on, so that load balancers send no more requests. */
    startDraining(): void {
      draining = true;
    },
  };
}

async function expire(ms: number, signal: AbortSignal): Promise<never> {
  await sleep(ms, undefined, { signal });
  throw new Error('no answer in time');
}
