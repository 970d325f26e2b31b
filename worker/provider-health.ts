import type { ProviderHealthChecks } from '../src/core/providers/health.js';
import { createLoop, type Loop } from './loop.js';

/** Checks the providers that are due. Several workers may run it: a lease lets one of them check each provider. */
export const createProviderHealthLoop = ({
  providerHealth,
}: {
  providerHealth: Pick<ProviderHealthChecks, 'checkDue'>;
}): Loop =>
  createLoop(async () => {
    await providerHealth.checkDue();
    return false;
  });
