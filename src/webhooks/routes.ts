import { ApiError } from '../errors.js';
import { sendData } from '../http/respond.js';
import { route, type Route } from '../http/routes.js';
import type { Log } from '../log.js';
import type { Providers } from '../providers/registry.js';
import { receivePaymentCallback } from './api.js';
import type { Callbacks } from './callbacks.js';

/**
 * Provider callbacks: the signature over the raw bytes is the only key. Stored once, answered, then applied; a repeat
 * is answered like the first. What can't be stored is a 503, so that the provider comes again.
 */
export function callbackRoutes({
  providers,
  callbacks,
  log,
}: {
  providers: Providers;
  callbacks: Callbacks;
  log: Log;
}): Route[] {
  return [
    route(receivePaymentCallback, async (ctx, { params }) => {
      const provider = providers.find(params.provider);
      if (!provider) throw new ApiError('not_found');
      const headers = Object.fromEntries(
        Object.entries(ctx.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value[0] : value,
        ]),
      );
      const bytes = ctx.state.body?.bytes ?? Buffer.alloc(0);
      const reading = provider.readCallback(bytes, headers, new Date());
      if (reading.kind === 'bad_signature') throw new ApiError('invalid_signature');
      if (reading.kind === 'callback') {
        const stored = await callbacks.store(provider.name, reading.callback);
        // After the answer: the provider waits for a receipt, not for our books.
        if (stored) ctx.res.once('finish', () => applySoon(stored));
      } else if (reading.kind === 'ignored') {
        // It would only come again as it is. The bank is asked anyway; somebody should learn its new words.
        log.warn(
          { provider: provider.name, callback: reading.dedupeKey },
          'callback not understood',
        );
      }
      sendData(ctx, 200, { received: true });
    }),
  ];

  function applySoon(stored: Parameters<Callbacks['apply']>[0]): void {
    callbacks.apply(stored).catch((error: unknown) => {
      log.warn({ err: error, callback: stored._id }, 'callback not applied, left to the sweep');
    });
  }
}
