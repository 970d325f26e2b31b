import { createPaystackAccounts } from '../core/providers/paystack/account-adapter.js';
import { createPaystackBanks } from '../core/providers/paystack/banks.js';
import { createPaystackClient } from '../core/providers/paystack/client.js';
import { createPaystackIdentity } from '../core/providers/paystack/identity-adapter.js';
import { createPaystackPayments } from '../core/providers/paystack/payment-adapter.js';
import { createPaystackTransfers } from '../core/providers/paystack/transfer-adapter.js';
import type { ObserveCall } from '../core/providers/observed.js';
import { createRegistry, type Adapters } from '../core/providers/registry.js';
import { createSandboxBankAccounts } from '../core/providers/sandbox-bank/account-adapter.js';
import { createSandboxBankProvider } from '../core/providers/sandbox-bank/adapter.js';
import { createSandboxBankBills } from '../core/providers/sandbox-bank/bill-adapter.js';
import { createSandboxBankIssuer } from '../core/providers/sandbox-bank/card-adapter.js';
import { createSandboxBankIdentity } from '../core/providers/sandbox-bank/identity-adapter.js';
import { createSandboxBankPayments } from '../core/providers/sandbox-bank/payment-adapter.js';
import type { Config } from '../shared/config.js';
import type { PaystackSettings } from '../shared/paystack-settings.js';

/**
 * Creates the providers that the configuration has. `observe` is told of each call, `onVerified` of the secret that has verified
 * a message.
 */
export const createProviders = (
  config: Config,
  observe: ObserveCall = () => undefined,
  onVerified: (secret: string) => void = () => undefined,
) => createRegistry(adaptersOf(withListener(config, onVerified)), { config, observe });

const withListener = ({ sandboxBank, paystack }: Config, onVerified: (secret: string) => void) => ({
  sandboxBank: sandboxBank && { ...sandboxBank, onVerified },
  paystack: paystack && { ...paystack, onVerified },
});

/** The one list of adapters: a new provider is a folder, and a line for each of its ports here. */
function adaptersOf({ sandboxBank, paystack }: ReturnType<typeof withListener>): Adapters {
  const paystackBanks = paystack && createPaystackBanks(createPaystackClient(paystack));
  const withCustomers = paystack && settingsWithCustomers(paystack);
  return {
    transfers: [
      sandboxBank && createSandboxBankProvider(sandboxBank),
      paystack && paystackBanks && createPaystackTransfers(paystack, paystackBanks),
    ],
    cards: [sandboxBank && createSandboxBankIssuer(sandboxBank)],
    payments: [
      sandboxBank && createSandboxBankPayments(sandboxBank),
      paystack && paystackBanks && createPaystackPayments(paystack, paystackBanks),
    ],
    accounts: [
      sandboxBank && createSandboxBankAccounts(sandboxBank),
      withCustomers && paystackBanks && createPaystackAccounts(withCustomers, paystackBanks),
    ],
    bills: [sandboxBank && createSandboxBankBills(sandboxBank)],
    identity: [
      sandboxBank && createSandboxBankIdentity(sandboxBank),
      withCustomers && paystackBanks && createPaystackIdentity(withCustomers, paystackBanks),
    ],
  };
}

/** The settings of Paystack for the ports that make customers there; null without a domain for them. */
const settingsWithCustomers = (paystack: PaystackSettings) =>
  paystack.customerDomain === null
    ? null
    : { ...paystack, customerDomain: paystack.customerDomain };
