import type { Config } from '../../shared/config.js';
import type { Providers } from '../../core/providers/registry.js';
import type { TransferProvider } from '../../core/providers/transfer-provider.js';
import { createProviders } from '../../composition/providers.js';
import { expectedRuns } from '../../composition/reconciliation.js';
import { examine, pass, fail, type Check } from './check.js';
import { examineMongodb } from './mongodb.js';
import { examinePaystack } from './paystack.js';
import { examineTemporal } from './temporal.js';

/** Checks everything that the service depends on, and its backlogs. Changes nothing and ends within seconds. */
export async function examineService(
  config: Config,
  configured: Pick<Providers, 'all' | 'accountProviders' | 'rateLimits'> = createProviders(config),
): Promise<Check[]> {
  const { all: providers, rateLimits } = configured;
  const parts = await Promise.all([
    examineMongodb(config, expectedRuns(config, configured)),
    examineTemporal(config, rateLimits),
    examinePaystack(config),
    Promise.all(providers.map(examineProvider)),
  ]);
  return parts.flat();
}

const PROVIDER_WITHIN_MS = 4_000;

function examineProvider(provider: TransferProvider): Promise<Check> {
  const hint = 'check its address and secret; its transfers wait and are verified after its return';
  return examine(`provider: ${provider.name}`, hint, async () => {
    const answer = await provider.listBanks(AbortSignal.timeout(PROVIDER_WITHIN_MS));
    return answer.kind === 'banks'
      ? pass(`answers, and lists ${answer.banks.length} banks`)
      : fail(`no usable answer (${answer.reason})`, hint);
  });
}
