import { audits } from '../../src/composition/capabilities.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import type { PaystackOptions } from '../fakes/paystack/context.js';
import { startService } from '../support/service.js';
import { CUSTOMER_DOMAIN, startFake } from './support.js';

export const REHEARSAL_KEY = 'sk_live_inventedkey0000';

/** The whole service in a rehearsal of live, with the fake in the place of Paystack. */
export type Rehearsal = Awaited<ReturnType<typeof startRehearsal>>;

/** Starts a rehearsal of live: only the connection to Paystack differs from the real one. */
export async function startRehearsal(
  options: Partial<PaystackOptions> = {},
  env: Record<string, string> = {},
  workers = 1,
) {
  const fake = await startFake({ keys: [REHEARSAL_KEY], domain: 'live', ...options });
  const service = await startService({
    workers,
    env: {
      BURSAR_ENV: 'live',
      BURSAR_LIVE_REHEARSAL: 'true',
      BURSAR_ATTENTION_AFTER_MS: '600000',
      BURSAR_PROVIDER_HEALTH_EVERY_MS: '1000',
      BURSAR_DEPOSIT_SEARCH_DAYS: '1',
      BURSAR_DEPOSIT_SEARCH_EVERY_MS: '2000',
      PAYSTACK_SECRET_KEY: REHEARSAL_KEY,
      PAYSTACK_BASE_URL: fake.url,
      PAYSTACK_CUSTOMER_DOMAIN: CUSTOMER_DOMAIN,
      PAYSTACK_CALLS_PER_SECOND: '200',
      PAYSTACK_TIMEOUT_MS: '1500',
      ...env,
    },
  }).catch(async (error: unknown) => {
    await fake.close();
    throw error;
  });
  fake.sendTo(`${service.api.url}/api/v1/webhooks/payments/paystack`);
  return {
    fake,
    service,
    /** The problems in the ledger. */
    problems: async () => (await auditLedger(service.deps.database, audits)).problems,
    async close(): Promise<void> {
      await service.close();
      await fake.close();
    },
  };
}
