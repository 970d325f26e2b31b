import type { Config } from '../config.js';
import type { TransferProvider } from './provider.js';
import { createSandboxBankProvider } from './sandbox-bank/adapter.js';

export type Providers = ReturnType<typeof createProviders>;

/** Every provider that this deployment talks to. A new one is a folder and a line here. */
export function createProviders(config: Config) {
  const all: TransferProvider[] = [createSandboxBankProvider(config.sandboxBank)];
  const byName = new Map(all.map((provider) => [provider.name, provider]));
  const first = all[0];
  if (!first) throw new Error('no provider is configured');
  return {
    all,
    /** Where new transfers go. */
    forTransfers: first,
    find: (name: string): TransferProvider | undefined => byName.get(name),
    /** The provider of a record. Throws when the record's provider is no longer configured. */
    transfer(name: string): TransferProvider {
      const provider = byName.get(name);
      if (!provider) throw new Error(`provider ${name} is not configured`);
      return provider;
    },
  };
}
