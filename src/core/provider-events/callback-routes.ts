import { ApiError } from '../../shared/errors.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Log } from '../../shared/log.js';
import type { PaymentEvent, PaymentProvider } from '../providers/payment-provider.js';
import type { Callback } from '../providers/transfer-provider.js';
import type { Providers } from '../providers/registry.js';
import { receivePaymentCallback } from './callback-api.js';
import type { CallbackDraft, Callbacks } from './callbacks.js';

/** How each capability keeps a message that is about its records. */
export type CallbackDrafts = {
  transfer(callback: Callback): CallbackDraft;
  payment(event: PaymentEvent): CallbackDraft;
};

type Reading =
  | { kind: 'callback'; callback: CallbackDraft }
  | { kind: 'ignored'; dedupeKey: string }
  | { kind: 'bad_signature' };

/**
 * Provider callbacks: the signature over the raw bytes is the only key. Stored once, answered, then applied; a repeat
 * is answered like the first. What can't be stored is a 503, so that the provider comes again.
 */
export function callbackRoutes({
  providers,
  callbacks,
  callbackDrafts: drafts,
  log,
}: {
  providers: Providers;
  callbacks: Callbacks;
  callbackDrafts: CallbackDrafts;
  log: Log;
}): Route[] {
  return [
    route(receivePaymentCallback, async (ctx, { params }) => {
      const { provider: name } = params;
      const headers = Object.fromEntries(
        Object.entries(ctx.headers).map(([header, value]) => [
          header,
          Array.isArray(value) ? value[0] : value,
        ]),
      );
      const bytes = ctx.state.body?.bytes ?? Buffer.alloc(0);
      const reading = read(name, bytes, headers, new Date());
      if (!reading) throw new ApiError('not_found');
      if (reading.kind === 'bad_signature') throw new ApiError('invalid_signature');
      if (reading.kind === 'callback') {
        const stored = await callbacks.store(name, reading.callback);
        // After the answer: the provider waits for a receipt, not for our books.
        if (stored) ctx.res.once('finish', () => applySoon(stored));
      } else {
        // It would only come again as it is. The provider is asked anyway; somebody should learn its new words.
        log.warn({ provider: name, callback: reading.dedupeKey }, 'provider event unreadable');
      }
      sendData(ctx, 200, { received: true });
    }),
  ];

  /** What a provider says of transfers, charges or refunds, which may all come to one address. */
  function read(
    name: string,
    ...raw: Parameters<PaymentProvider['readCallback']>
  ): Reading | undefined {
    const told = providers.find(name)?.readCallback(...raw);
    if (told?.kind === 'callback') {
      return { kind: 'callback', callback: drafts.transfer(told.callback) };
    }
    if (told && told.kind !== 'elsewhere') return told;
    const event = providers.findPayment(name)?.readCallback(...raw);
    if (event?.kind === 'event') return { kind: 'callback', callback: drafts.payment(event.event) };
    if (event?.kind === 'elsewhere' || !event) {
      return told && { kind: 'ignored', dedupeKey: told.dedupeKey };
    }
    return event;
  }

  function applySoon(stored: Parameters<Callbacks['apply']>[0]): void {
    callbacks.apply(stored).catch((error: unknown) => {
      log.warn({ err: error, callback: stored._id }, 'callback not applied, left to recovery');
    });
  }
}
