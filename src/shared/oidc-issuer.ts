import type { Configuration } from 'openid-client';
import type { OidcSettings } from './oidc-settings.js';

const TIMEOUT_SECONDS = 10;

/** Reads what the issuer says about itself. Throws if it does not answer, or says to be another one. */
export async function discoverIssuer({
  issuer,
  clientId,
}: Pick<OidcSettings, 'issuer' | 'clientId'>): Promise<Configuration> {
  // Loaded when it is needed: most processes and commands have no issuer.
  const { allowInsecureRequests, discovery, None } = await import('openid-client');
  const url = new URL(issuer);
  // The settings permit this on the loopback address alone.
  const execute = url.protocol === 'http:' ? [allowInsecureRequests] : [];
  return discovery(url, clientId, undefined, None(), { execute, timeout: TIMEOUT_SECONDS });
}
