import type { ObserveCall } from '../core/providers/observed.js';
import type { Tracer } from '../platform/tracing/tracer.js';
import type { Log } from '../shared/log.js';
import { recordOfCall } from './spans.js';

/** Writes a debug line for each call to a provider: which call, about which record, and its result. Nothing of its content. */
export const logProviderCalls =
  (log: Log, tracer: Tracer): ObserveCall =>
  ({ capability, provider, call, result, seconds, given, requestId }) => {
    if (!log.isLevelEnabled('debug')) return;
    log.debug(
      {
        resource: recordOfCall(given, tracer) ?? undefined,
        capability,
        provider,
        call,
        result,
        ms: Math.round(seconds * 1000),
        provider_request_id: requestId ?? undefined,
      },
      'provider called',
    );
  };
