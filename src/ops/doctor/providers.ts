import type { Db } from 'mongodb';
import { providerFaultsCollection, type ProviderFault } from '../../core/providers/faults.js';
import { providerHealthCollection, type ProviderHealth } from '../../core/providers/health.js';
import { duration, examine, fail, pass, type Check } from './check.js';

const FAULTS = 'end its cause at the provider; `bursar providers resume` ends a fault at once';
const UP = 'check the address and the key of the provider';

/** Checks the faults of providers, the words that no adapter knows, and the last health checks. */
export async function examineProviderStates(db: Db): Promise<Check[]> {
  return Promise.all([
    examine('provider faults', FAULTS, async () => {
      const faults = await db
        .collection<ProviderFault>(providerFaultsCollection.name)
        .find({ ended_at: null })
        .toArray();
      return faults.length === 0 ? pass('none') : fail(faults.map(describe).join('; '), FAULTS);
    }),
    examine('provider health', UP, async () => {
      const all = await db
        .collection<ProviderHealth>(providerHealthCollection.name)
        .find({ checked_at: { $type: 'date' } })
        .toArray();
      const down = all.filter(({ up }) => !up).map(({ _id, reason }) => `${_id}: ${reason}`);
      if (down.length > 0) return fail(down.join('; '), UP);
      return pass(all.map(({ _id }) => `${_id} is up`).join(', ') || 'not checked yet');
    }),
  ]);
}

const describe = ({ provider, kind, name, since }: ProviderFault): string =>
  `${provider}: ${kind === 'word' ? `the unknown word ${name}` : name} for ${duration(Date.now() - since.getTime())}`;
