import type { Config } from '../../shared/config.js';
import { ApiError } from '../../shared/errors.js';
import { providerSetting, type ProviderCapability } from '../../shared/provider-settings.js';
import {
  identityRateLimitKey,
  billRateLimitKey,
  issuerRateLimitKey,
  paymentRateLimitKey,
  transferRateLimitKey,
  type RateLimit,
} from '../../platform/temporal/queues.js';
import type { BillEvent, BillProvider } from './bill-provider.js';
import type { AuthorizationReading, CardEvent, CardIssuer } from './card-issuer.js';
import type { IdentityEvent, IdentityProvider } from './identity-provider.js';
import type { PaymentEvent, PaymentProvider } from './payment-provider.js';
import type { TransferEvent, TransferProvider } from './transfer-provider.js';
import type { MessageReader } from './provider-message.js';
import { createPaystackBanks } from './paystack/banks.js';
import { createPaystackClient } from './paystack/client.js';
import { createPaystackPayments } from './paystack/payment-adapter.js';
import { createSandboxBankProvider } from './sandbox-bank/adapter.js';
import { createSandboxBankBills } from './sandbox-bank/bill-adapter.js';
import { createSandboxBankIssuer } from './sandbox-bank/card-adapter.js';
import { createSandboxBankIdentity } from './sandbox-bank/identity-adapter.js';
import { createSandboxBankPayments } from './sandbox-bank/payment-adapter.js';

/** The events of each port. */
export type PortEvents = {
  transfers: TransferEvent;
  payments: PaymentEvent;
  cards: CardEvent;
  identity: IdentityEvent;
  bills: BillEvent;
};

/** A port whose providers send messages. */
export type Port = keyof PortEvents;

/** The adapters of this deployment's providers, by port. */
export type Providers = ReturnType<typeof createProviders>;

/**
 * Creates the adapters of every configured provider of this deployment. A new provider is a folder and a line for each of
 * its ports here. Records stay with their provider, also if the settings name another one for new records.
 */
export function createProviders(config: Config) {
  const { sandboxBank, paystack } = config;
  const paystackBanks = paystack && createPaystackBanks(createPaystackClient(paystack));
  const transfers = createPort<TransferProvider>(config, 'transfers', [
    sandboxBank && createSandboxBankProvider(sandboxBank),
  ]);
  const cards = createPort<CardIssuer>(config, 'cards', [
    sandboxBank && createSandboxBankIssuer(sandboxBank),
  ]);
  const payments = createPort<PaymentProvider>(config, 'payments', [
    sandboxBank && createSandboxBankPayments(sandboxBank),
    paystack && paystackBanks && createPaystackPayments(paystack, paystackBanks),
  ]);
  const bills = createPort<BillProvider>(config, 'billpay', [
    sandboxBank && createSandboxBankBills(sandboxBank),
  ]);
  const identity = createPort<IdentityProvider>(config, 'identity', [
    sandboxBank && createSandboxBankIdentity(sandboxBank),
  ]);
  const rateLimits: RateLimit[] = [
    ...transfers.all.map(({ name, traits: { callsPerSecond } }) => ({
      name: transferRateLimitKey(name),
      callsPerSecond,
      bulkTransfersOf: name,
    })),
    ...cards.all.map(({ name, cards: { callsPerSecond } }) =>
      limitOf(issuerRateLimitKey(name), callsPerSecond),
    ),
    ...payments.all.map(({ name, payments: { rates } }) =>
      limitOf(paymentRateLimitKey(name), slowest(rates)),
    ),
    ...identity.all.map(({ name, identity: { callsPerSecond } }) =>
      limitOf(identityRateLimitKey(name), callsPerSecond),
    ),
    ...bills.all.map(({ name, bills: { callsPerSecond } }) =>
      limitOf(billRateLimitKey(name), callsPerSecond),
    ),
  ];
  const readers = {
    transfers: transfers.find,
    payments: payments.find,
    cards: cards.find,
    identity: identity.find,
    bills: bills.find,
  };
  return {
    all: transfers.all,
    /** The rate limit of each provider's calls, with the name of its queue. */
    rateLimits,
    /** True if new records of the capability have a provider. */
    serves: (capability: ProviderCapability): boolean => config.providers[capability] !== null,
    /** The provider of new transfers. Throws `feature_not_enabled` if there is none, as `forCards` and `forPayments` do. */
    forTransfers: transfers.forNew,
    find: transfers.find,
    /** The provider of a record. Throws if it is no longer configured, as `issuer` and `payment` do. */
    transfer: transfers.get,
    issuers: cards.all,
    /** The issuer of new cards. */
    forCards: cards.forNew,
    findIssuer: cards.find,
    issuer: cards.get,
    payments: payments.all,
    /** The provider of new charges. */
    forPayments: payments.forNew,
    findPayment: payments.find,
    payment: payments.get,
    /** The provider of new identity checks. */
    forIdentity: identity.forNew,
    identity: identity.get,
    /** The provider of new bill payments. */
    forBills: bills.forNew,
    bill: bills.get,
    /** The adapter that reads the messages of a provider for a port; undefined if the provider has no such port. */
    messageReader: (
      port: Port,
      name: string,
    ): MessageReader<PortEvents[Port], AuthorizationReading> | undefined => readers[port](name),
  };
}

/** One queue has all calls of a port, so the slowest of them bounds it. */
const slowest = (rates: PaymentProvider['payments']['rates']): number =>
  Math.min(...Object.values(rates).map(({ perSecond }) => perSecond));

/** The rate limit of a port without bulk transfers. */
const limitOf = (name: string, callsPerSecond: number): RateLimit => ({
  name,
  callsPerSecond,
  bulkTransfersOf: null,
});

/** The adapters of one port. Throws if the provider that the settings name for new records has none. */
function createPort<Provider extends { name: string }>(
  config: Config,
  capability: ProviderCapability,
  adapters: readonly (Provider | null)[],
) {
  const all = adapters.filter((adapter) => adapter !== null);
  const named = new Map(all.map((provider) => [provider.name, provider]));
  const chosen = config.providers[capability];
  if (chosen !== null && !named.has(chosen)) {
    const known = all.map(({ name }) => name).join(', ') || 'no provider';
    const setting = providerSetting(capability);
    throw new Error(
      `${setting} names ${chosen}, but only ${known} is configured for ${capability}`,
    );
  }
  const get = (name: string): Provider => {
    const provider = named.get(name);
    if (!provider) throw new Error(`${name} is not configured for ${capability}`);
    return provider;
  };
  return {
    all,
    find: (name: string): Provider | undefined => named.get(name),
    get,
    forNew: (): Provider => {
      if (chosen === null) throw new ApiError('feature_not_enabled');
      return get(chosen);
    },
  };
}
