import { Registry } from 'prom-client';
import { measureFloats } from '../../../src/composition/float-metrics.js';
import { createPaystackTransfers } from '../../../src/core/providers/paystack/transfer-adapter.js';
import { createProviderFaults } from '../../../src/core/providers/faults.js';
import { createProviderHealthChecks } from '../../../src/core/providers/health.js';
import { createLog } from '../../../src/shared/log.js';
import { banksFor, settingsFor, startFake } from '../../paystack/support.js';
import { openTestDatabase } from '../../support/database.js';

const log = createLog({ level: 'silent', name: 'test' });

test('our balance at a provider is a metric, and so is the level below which an operator is told', async () => {
  const database = await openTestDatabase();
  const fake = await startFake({ balance: 1_700_000 });
  const adapterWith = (floatAlertMinor: bigint) => {
    const settings = { ...settingsFor(fake.url), floatAlertMinor };
    return createPaystackTransfers(settings, banksFor(settings));
  };
  const { db } = database;
  const faults = createProviderFaults({ db, log });
  const scrape = async (floatAlertMinor: bigint) => {
    const providers = { all: [adapterWith(floatAlertMinor)] };
    const health = createProviderHealthChecks({ db, providers, faults, everyMs: 1, log });
    await health.checkDue();
    const registry = new Registry();
    measureFloats(registry, { providers, health, log });
    const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('{'));
    return lines.toSorted();
  };
  expect(await scrape(2_000_000n)).toEqual([
    'bursar_provider_float_alert_kobo{provider="paystack"} 2000000',
    'bursar_provider_float_kobo{provider="paystack"} 1700000',
  ]);
  expect(await scrape(0n)).toEqual(['bursar_provider_float_kobo{provider="paystack"} 1700000']);
  await fake.close();
  await database.close();
});
