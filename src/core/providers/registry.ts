import type { Config } from '../../shared/config.js';
import {
  accountRateLimitKey,
  issuerRateLimitKey,
  paymentRateLimitKey,
  transferRateLimitKey,
  type RateLimit,
} from '../../platform/temporal/queues.js';
import type { AccountEvent, AccountProvider } from './account-provider.js';
import type { AuthorizationReading, CardEvent, CardIssuer } from './card-issuer.js';
import type { PaymentEvent, PaymentProvider } from './payment-provider.js';
import type { TransferEvent, TransferProvider } from './transfer-provider.js';
import type { MessageReader } from './provider-message.js';
import { createSandboxBankAccounts } from './sandbox-bank/account-adapter.js';
import { createSandboxBankProvider } from './sandbox-bank/adapter.js';
import { createSandboxBankIssuer } from './sandbox-bank/card-adapter.js';
import { createSandboxBankPayments } from './sandbox-bank/payment-adapter.js';

/** The events of each port. */
export type PortEvents = {
  transfers: TransferEvent;
  payments: PaymentEvent;
  accounts: AccountEvent;
  cards: CardEvent;
};

/** A port whose providers send messages. */
export type Port = keyof PortEvents;

/** The adapters of this deployment's providers, by port. */
export type Providers = ReturnType<typeof createProviders>;

/** Creates the adapters of every provider of this deployment. A new provider is a folder and a line here. */
export function createProviders(config: Config) {
  const transfers = byName<TransferProvider>('provider', [
    createSandboxBankProvider(config.sandboxBank),
  ]);
  const cards = byName<CardIssuer>('card issuer', [createSandboxBankIssuer(config.sandboxBank)]);
  const payments = byName<PaymentProvider>('payment provider', [
    createSandboxBankPayments(config.sandboxBank),
  ]);
  const accounts = byName<AccountProvider>('provider of virtual accounts', [
    createSandboxBankAccounts(config.sandboxBank),
  ]);
  const rateLimits: RateLimit[] = [
    ...transfers.all.map(({ name, traits: { callsPerSecond } }) => ({
      name: transferRateLimitKey(name),
      callsPerSecond,
      bulkTransfersOf: name,
    })),
    ...cards.all.map(({ name, cards: { callsPerSecond } }) => ({
      name: issuerRateLimitKey(name),
      callsPerSecond,
      bulkTransfersOf: null,
    })),
    ...payments.all.map(({ name, payments: { callsPerSecond } }) => ({
      name: paymentRateLimitKey(name),
      callsPerSecond,
      bulkTransfersOf: null,
    })),
    ...accounts.all.map(({ name, accounts: { callsPerSecond } }) => ({
      name: accountRateLimitKey(name),
      callsPerSecond,
      bulkTransfersOf: null,
    })),
  ];
  const readers = {
    transfers: transfers.find,
    payments: payments.find,
    accounts: accounts.find,
    cards: cards.find,
  };
  return {
    all: transfers.all,
    /** The rate limit of each provider's calls, with the name of its queue. */
    rateLimits,
    /** The provider of new transfers. */
    forTransfers: transfers.first,
    find: transfers.find,
    /** The provider of a record. Throws if it is no longer configured, as `issuer` and `payment` do. */
    transfer: transfers.get,
    issuers: cards.all,
    /** The issuer of new cards. */
    forCards: cards.first,
    findIssuer: cards.find,
    issuer: cards.get,
    payments: payments.all,
    /** The provider of new charges. */
    forPayments: payments.first,
    findPayment: payments.find,
    payment: payments.get,
    accountProviders: accounts.all,
    /** The provider of new virtual accounts. */
    forVirtualAccounts: () => accounts.first,
    findAccountProvider: accounts.find,
    accountProvider: accounts.get,
    /** The adapter that reads the messages of a provider for a port; undefined if the provider has no such port. */
    messageReader: (
      port: Port,
      name: string,
    ): MessageReader<PortEvents[Port], AuthorizationReading> | undefined => readers[port](name),
  };
}

function byName<Provider extends { name: string }>(what: string, all: Provider[]) {
  const named = new Map(all.map((provider) => [provider.name, provider]));
  const first = all[0];
  if (!first) throw new Error(`no ${what} is configured`);
  return {
    all,
    first,
    find: (name: string): Provider | undefined => named.get(name),
    get: (name: string): Provider => {
      const provider = named.get(name);
      if (!provider) throw new Error(`${what} ${name} is not configured`);
      return provider;
    },
  };
}
