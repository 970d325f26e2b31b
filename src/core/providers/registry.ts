import type { Config } from '../../shared/config.js';
import { ApiError } from '../../shared/errors.js';
import { providerSetting, type ProviderCapability } from '../../shared/provider-settings.js';
import {
  accountRateLimitKey,
  identityRateLimitKey,
  billRateLimitKey,
  issuerRateLimitKey,
  paymentRateLimitKey,
  transferRateLimitKey,
  type RateLimit,
} from '../../platform/temporal/queues.js';
import type { AccountEvent, AccountProvider } from './account-provider.js';
import type { BillEvent, BillProvider } from './bill-provider.js';
import type { AuthorizationReading, CardEvent, CardIssuer } from './card-issuer.js';
import type { IdentityEvent, IdentityProvider } from './identity-provider.js';
import type { PaymentEvent, PaymentProvider } from './payment-provider.js';
import type { TransferEvent, TransferProvider } from './transfer-provider.js';
import { ProviderNotConfigured } from './not-configured.js';
import type { Traits } from './port.js';
import { observed, type ObserveCall } from './observed.js';
import type { MessageReader } from './provider-message.js';

/** The only currency of the ledger. */
const CURRENCY = 'NGN';

/** The events of each port. */
export type PortEvents = {
  transfers: TransferEvent;
  payments: PaymentEvent;
  accounts: AccountEvent;
  cards: CardEvent;
  identity: IdentityEvent;
  bills: BillEvent;
};

/** A port whose providers send messages. */
export type Port = keyof PortEvents;

/** The adapters of this deployment's providers, by port. */
export type Providers = ReturnType<typeof createRegistry>;

/** The adapters of each port; null stands for a provider that is not configured. */
export type Adapters = {
  transfers: readonly (TransferProvider | null)[];
  cards: readonly (CardIssuer | null)[];
  payments: readonly (PaymentProvider | null)[];
  accounts: readonly (AccountProvider | null)[];
  bills: readonly (BillProvider | null)[];
  identity: readonly (IdentityProvider | null)[];
};

/** The parts of every port. */
type PortSettings = { config: Config; observe: ObserveCall };

/** Creates the ports, each with its adapters. */
function createPorts(adapters: Adapters, { config, observe }: PortSettings) {
  const port = <Provider extends { name: string }>(
    capability: ProviderCapability,
    of: readonly (Provider | null)[],
  ) => createPort({ config, observe, capability }, of);
  return {
    transfers: port('transfers', adapters.transfers),
    cards: port(
      'cards',
      inOurCurrency(adapters.cards, (issuer) => issuer.cards),
    ),
    payments: port(
      'payments',
      inOurCurrency(adapters.payments, (provider) => provider.payments),
    ),
    accounts: port('virtual_accounts', adapters.accounts),
    bills: port('billpay', adapters.bills),
    identity: port('identity', adapters.identity),
  };
}

/** The rate limit of each provider's calls, by port. */
const rateLimitsOf = (ports: ReturnType<typeof createPorts>): RateLimit[] => {
  const { transfers, cards, payments, accounts, bills, identity } = ports;
  return [
    ...transfers.all.map(({ name, traits: { submissions, ...traits } }) => ({
      ...limitOf(transferRateLimitKey(name), name, traits),
      bulkTransfersOf: name,
      ...(submissions && { submissions: rateOf(name, submissions) }),
    })),
    ...cards.all.map(({ name, cards: { rates, bucket } }) =>
      limitOf(issuerRateLimitKey(name), name, { callsPerSecond: slowest(rates), bucket }),
    ),
    ...payments.all.map(({ name, payments: { rates, bucket } }) =>
      limitOf(paymentRateLimitKey(name), name, { callsPerSecond: slowest(rates), bucket }),
    ),
    ...accounts.all.map(({ name, accounts: traits }) =>
      limitOf(accountRateLimitKey(name), name, traits),
    ),
    ...identity.all.map(({ name, identity: traits }) =>
      limitOf(identityRateLimitKey(name), name, traits),
    ),
    ...bills.all.map(({ name, bills: traits }) => limitOf(billRateLimitKey(name), name, traits)),
  ];
};

/**
 * Creates the registry of the configured providers. Records stay with their provider, also if the settings name another one
 * for new records. `observe` is told of each call.
 */
export function createRegistry(adapters: Adapters, settings: PortSettings) {
  const { config } = settings;
  const ports = createPorts(adapters, settings);
  const { transfers, cards, payments, accounts, bills, identity } = ports;
  const readers = {
    transfers: transfers.find,
    payments: payments.find,
    accounts: accounts.find,
    cards: cards.find,
    identity: identity.find,
    bills: bills.find,
  };
  return {
    all: transfers.all,
    /** The rate limit of each provider's calls, with the name of its queue. */
    rateLimits: rateLimitsOf(ports),
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
    payment: payments.get,
    accountProviders: accounts.all,
    /** The provider of new virtual accounts. */
    forVirtualAccounts: accounts.forNew,
    findAccountProvider: accounts.find,
    accountProvider: accounts.get,
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
const slowest = (rates: Traits<string>['rates']): number =>
  Math.min(...Object.values(rates).map(({ perSecond }) => perSecond));

/** The rate of a port. Ports of a provider that name one bucket share it. */
type PortRate = { callsPerSecond: number; bucket?: string | undefined };

const rateOf = (provider: string, { callsPerSecond, bucket }: PortRate): PortRate => ({
  callsPerSecond,
  ...(bucket !== undefined && { bucket: `${provider}/${bucket}` }),
});

const limitOf = (name: string, provider: string, rate: PortRate): RateLimit => ({
  name,
  bulkTransfersOf: null,
  ...rateOf(provider, rate),
});

/** Returns the adapters. Throws if one does not handle the only currency of the ledger: every call would be refused. */
function inOurCurrency<Provider extends { name: string }>(
  adapters: readonly (Provider | null)[],
  traitsOf: (provider: Provider) => Pick<Traits<never>, 'currencies'>,
): readonly (Provider | null)[] {
  for (const adapter of adapters) {
    if (adapter === null || traitsOf(adapter).currencies.includes(CURRENCY)) continue;
    throw new Error(`${adapter.name} does not handle ${CURRENCY}, the currency of all wallets`);
  }
  return adapters;
}

/** The adapters of one port. Throws if the provider that the settings name for new records has none. */
function createPort<Provider extends { name: string }>(
  { config, capability, observe }: PortSettings & { capability: ProviderCapability },
  adapters: readonly (Provider | null)[],
) {
  const all = adapters
    .filter((adapter) => adapter !== null)
    .map((adapter) => observed(adapter, capability, observe));
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
    if (!provider) throw new ProviderNotConfigured(name, capability);
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
