import type { Config } from '../config.js';
import { issuerCalls, type CallLimits } from '../temporal/queues.js';
import type { CardIssuer } from './card-issuer.js';
import type { TransferProvider } from './provider.js';
import { createSandboxBankProvider } from './sandbox-bank/adapter.js';
import { createSandboxBankIssuer } from './sandbox-bank/card-adapter.js';

export type Providers = ReturnType<typeof createProviders>;

/** Every provider that this deployment talks to. A new one is a folder and a line here. */
export function createProviders(config: Config) {
  const all: TransferProvider[] = [createSandboxBankProvider(config.sandboxBank)];
  const byName = new Map(all.map((provider) => [provider.name, provider]));
  const first = all[0];
  if (!first) throw new Error('no provider is configured');
  const issuers: CardIssuer[] = [createSandboxBankIssuer(config.sandboxBank)];
  const issuersByName = new Map(issuers.map((issuer) => [issuer.name, issuer]));
  const firstIssuer = issuers[0];
  if (!firstIssuer) throw new Error('no card issuer is configured');
  const callLimits: CallLimits[] = [
    ...all.map(({ name, capabilities: { callsPerSecond } }) => ({
      name,
      callsPerSecond,
      batches: true,
    })),
    ...issuers.map(({ name, cards: { callsPerSecond } }) => ({
      name: issuerCalls(name),
      callsPerSecond,
      batches: false,
    })),
  ];
  return {
    all,
    /** Every kind of calls that goes out, each with its queue and its rate. */
    callLimits,
    /** Where new transfers go. */
    forTransfers: first,
    find: (name: string): TransferProvider | undefined => byName.get(name),
    /** The provider of a record. Throws when the record's provider is no longer configured. */
    transfer(name: string): TransferProvider {
      const provider = byName.get(name);
      if (!provider) throw new Error(`provider ${name} is not configured`);
      return provider;
    },
    issuers,
    /** Where new cards come from. */
    forCards: firstIssuer,
    findIssuer: (name: string): CardIssuer | undefined => issuersByName.get(name),
    /** The issuer of a record. Throws when the record's issuer is no longer configured. */
    issuer(name: string): CardIssuer {
      const issuer = issuersByName.get(name);
      if (!issuer) throw new Error(`card issuer ${name} is not configured`);
      return issuer;
    },
  };
}
