/** The error for a record whose provider is not among those of this deployment any more. */
export class ProviderNotConfigured extends Error {
  constructor(name: string, capability: string) {
    super(`${name} is not configured for ${capability}`);
    this.name = 'ProviderNotConfigured';
  }
}
