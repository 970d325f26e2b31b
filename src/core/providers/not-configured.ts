import { ApiError } from '../../shared/errors.js';

/** The error for a record whose provider is not among those of this deployment any more. A client gets it as a refusal. */
export class ProviderNotConfigured extends ApiError {
  constructor(name: string, capability: string) {
    super('feature_not_enabled', { message: `${name} is not configured for ${capability}.` });
    this.name = 'ProviderNotConfigured';
  }
}
