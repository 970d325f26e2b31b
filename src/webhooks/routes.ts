import { ApiError } from '../errors.js';
import { rawBody } from '../http/body.js';
import type { AppRouter } from '../http/context.js';
import { sendData } from '../http/respond.js';
import type { Log } from '../log.js';
import type { Providers } from '../providers/registry.js';
import type { Callbacks } from './callbacks.js';

const MAX_CALLBACK_BYTES = 1024 * 1024;

/**
 * Provider callbacks: the signature over the raw bytes is the only key. Stored once, answered, then applied; a repeat
 * is answered like the first. What can't be stored is a 503, so that the provider comes again.
 */
export function callbackRoutes(
  router: AppRouter,
  { providers, callbacks, log }: { providers: Providers; callbacks: Callbacks; log: Log },
): void {
  router.post(
    '/webhooks/payments/:provider',
    rawBody({ maxBytes: MAX_CALLBACK_BYTES }),
    async (ctx) => {
      const provider = providers.find(String(ctx.params.provider));
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
      } else {
        // It would only come again as it is. The bank is asked anyway; somebody should learn its new words.
        log.warn(
          { provider: provider.name, callback: reading.dedupeKey },
          'callback not understood',
        );
      }
      sendData(ctx, 200, { received: true });
    },
  );

  function applySoon(stored: Parameters<Callbacks['apply']>[0]): void {
    callbacks.apply(stored).catch((error: unknown) => {
      log.warn({ err: error, callback: stored._id }, 'callback not applied, left to the sweep');
    });
  }
}
