import { randomUUID } from 'node:crypto';
import { sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../sandbox-bank/signature.js';
import type { Service } from './service.js';

export type CallbackOptions = {
  provider?: string;
  secret?: string;
  /** How old its signature says that it is. */
  ageSeconds?: number;
  /** Where to, if it is not the first API process. */
  api?: string;
  /** Sent instead of what was signed. */
  instead?: string;
};

/** Callbacks by hand, signed as the sandbox bank signs them. */
export function callbackSender(service: Service, family: 'payments' | 'cards' = 'payments') {
  const stored = service.deps.database.db.collection<{ _id: string; result: string | null }>(
    'callbacks',
  );
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

    /** What the bank would say about a transfer of `order()`. */
    about: (reference: string, event: string, changes: object = {}) =>
      JSON.stringify({
        id: `evt_${randomUUID()}`,
        event,
        occurred_at: new Date().toISOString(),
        data: { reference, amount_minor: 150_000, currency: 'NGN', ...changes },
      }),

    countStored: () => stored.countDocuments(),
    /** What a callback came to; undefined until it was dealt with. */
    outcomeOf: async (body: string) => {
      const { id } = JSON.parse(body) as { id: string };
      return (await stored.findOne({ _id: `sandbox-bank/${id}` }))?.result ?? undefined;
    },
  };
}
