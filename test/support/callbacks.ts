import { createHash, randomUUID } from 'node:crypto';
import { sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../sandbox-bank/shared/signature.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import type { Service } from './service.js';

/** Deviations from a valid callback. */
export type CallbackOptions = {
  provider?: string;
  secret?: string;
  /** Age that the signature claims. */
  ageSeconds?: number;
  /** URL of the API process; by default the first one. */
  api?: string;
  /** A body that is sent instead of the signed one. */
  instead?: string;
};

/** Sends callbacks that are signed like those of the sandbox bank. */
export function callbackSender(service: Service, family: 'payments' | 'cards' = 'payments') {
  const stored = service.deps.database.db.collection<ProviderEvent>('provider_events');
  return {
    async post(body: string, options: CallbackOptions = {}) {
      const { provider = 'sandbox-bank', ageSeconds = 0, instead = body } = options;
      const secret = options.secret ?? String(service.env['SANDBOX_BANK_SECRET']);
      const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
      const { api = service.api.url } = options;
      const response = await fetch(`${api}/api/v1/webhooks/${family}/${provider}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [TIMESTAMP_HEADER]: timestamp,
          [SIGNATURE_HEADER]: sign(secret, timestamp, body),
        },
        body: instead,
      });
      const { data, error } = (await response.json()) as {
        data?: unknown;
        error?: { code: string };
      };
      return { status: response.status, data, code: error?.code };
    },

    /** The body of a callback about a transfer of `transferBody()`. */
    about: (reference: string, event: string, changes: object = {}) =>
      JSON.stringify({
        id: `evt_${randomUUID()}`,
        event,
        occurred_at: new Date().toISOString(),
        data: { reference, amount_minor: 150_000, currency: 'NGN', ...changes },
      }),

    countStored: () => stored.countDocuments(),
    /** The result of a stored callback; undefined until it has been processed. */
    outcomeOf: async (body: string) => {
      const { id } = JSON.parse(body) as { id: string };
      const dedupe_key = createHash('sha256').update(`sandbox-bank/${id}`).digest('hex');
      return (await stored.findOne({ dedupe_key }))?.result ?? undefined;
    },
  };
}
