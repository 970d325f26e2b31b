import { createRegistry } from '../../src/core/providers/registry.js';
import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import { createPaystackIdentity } from '../../src/core/providers/paystack/identity-adapter.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import type { Config } from '../../src/shared/config.js';
import { banksFor, CUSTOMER_DOMAIN, settingsFor } from './support.js';

const PROVIDERS = {
  transfers: 'paystack',
  payments: 'paystack',
  virtual_accounts: 'paystack',
  identity: 'paystack',
  cards: null,
  billpay: null,
};

test.each([
  ['test', null],
  ['live', null],
  ['live', 20],
] as const)(
  'all ports of Paystack share one rate under a %s key, with %s calls per second',
  (domain, callsPerSecond) => {
    const settings = {
      ...settingsFor('http://127.0.0.1:1'),
      domain,
      callsPerSecond,
      customerDomain: CUSTOMER_DOMAIN,
    };
    const banks = banksFor(settings);
    const { rateLimits } = createRegistry(
      {
        transfers: [createPaystackTransfers(settings, banks)],
        payments: [createPaystackPayments(settings, banks)],
        accounts: [createPaystackAccounts(settings, banks)],
        identity: [createPaystackIdentity(settings, banks)],
        cards: [],
        bills: [],
      },
      { config: { providers: PROVIDERS } as unknown as Config, observe: () => undefined },
    );
    expect(rateLimits).toHaveLength(4);
    expect(new Set(rateLimits.map(({ bucket }) => bucket)).size).toBe(1);
    expect(rateLimits[0]?.bucket).toBe(domain === 'test' ? 'paystack/test' : 'paystack/shared');
    // Live keys have a limit for transfers beside it: 900 a minute, of which 80 % are used.
    const apart = { callsPerSecond: 12, bucket: 'paystack/transfer' };
    expect(rateLimits.map(({ submissions }) => submissions)).toEqual([
      domain === 'live' ? apart : undefined,
      undefined,
      undefined,
      undefined,
    ]);
  },
);
