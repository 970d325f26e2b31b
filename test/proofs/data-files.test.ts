import { createMongoClient } from '../../src/platform/database/client.js';
import {
  CONTROLS,
  missingControls,
  plantControls,
  searchFiles,
  type Sought,
} from '../support/data-files.js';
import { privateMongod, privateTemporal } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { plant, plantChecks } from '../support/planted.js';
import { missedBy, playCards } from '../support/planted-cards.js';
import {
  PLANTED_CARD_DATA,
  startPlantingProxy,
  type PlantingProxy,
} from '../support/planting-proxy.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { SERVICE_SECRETS, startService, type Service } from '../support/service.js';

let mongod: Awaited<ReturnType<typeof privateMongod>>;
let temporal: Awaited<ReturnType<typeof privateTemporal>>;
let service: Service;
let receiver: Receiver;
/** They add card data to the answers of the issuer, and to its messages. */
let answers: PlantingProxy;
let messages: PlantingProxy;

beforeAll(async () => {
  [mongod, temporal] = await Promise.all([
    privateMongod({ uncompressed: true }),
    privateTemporal(),
  ]);
  service = await startService({
    mongodbUri: mongod.uri,
    temporalAddress: temporal.address,
    bank: {
      async through(port) {
        const isCard = /^\/v1\/(cards|fundings|unloads|authorizations|disputes)/;
        answers = await startPlantingProxy(port, (path) => isCard.test(path), { of: 'answers' });
        return answers.port;
      },
      async callbacksThrough(port) {
        const signed = { of: 'messages', secret: SERVICE_SECRETS.SANDBOX_BANK_SECRET } as const;
        messages = await startPlantingProxy(port, (path) => path.includes('/cards/'), signed);
        return messages.port;
      },
    },
    env: {
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_LOG_LEVEL: 'debug',
      BURSAR_JIT_DEADLINE_MS: '2000',
    },
  });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
  answers?.close();
  messages?.close();
  await Promise.all([mongod?.remove(), temporal?.remove()]);
});

test('no file that MongoDB and Temporal have written, and no log, has a planted number, name, e-mail or secret in clear, nor card data of the issuer’s answers and messages, also after all were killed', async () => {
  const tenant = await service.tenant();
  const endpoint = await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  const { checks, planted: ofChecks } = await plantChecks(tenant);
  const pending = checks[2];
  await eventually('the pending check is at its provider', async () => {
    const found = await service.deps.identityChecks.store.find(String(pending?.id));
    return found?.acknowledged_at ? true : undefined;
  });
  // The number of the pending check is sealed in files that MongoDB recovers from its journal.
  await Promise.all([service.api.kill(), service.worker.kill()]);
  for (const engine of [mongod, temporal]) {
    process.kill(engine.pid, 'SIGKILL');
    await engine.ended;
  }
  await Promise.all([mongod.restart(), temporal.restart()]);
  await Promise.all([service.api.start(), service.worker.start()]);
  expect(await service.bank.setCheckOutcome(String(pending?.id), 'verified')).toBe(200);
  const values = await plant(service, tenant);
  await playCards(service, tenant, answers);
  expect(missedBy(answers, messages)).toEqual([]);
  await eventually('all events of checks arrive', () =>
    receiver.events().filter(({ event }) => event === 'kyc.completed').length >= checks.length
      ? true
      : undefined,
  );

  const raw = createMongoClient(mongod.uri, 'bursar-test');
  await plantControls(raw.db(service.deps.database.db.databaseName), service.deps.temporal.client);
  await raw.close();
  const secrets = {
    'an API key': tenant.key,
    'the secret of an endpoint': String(endpoint?.secret).replace(/^whsec_/, ''),
    ...SERVICE_SECRETS,
    'a sealing key': SERVICE_SECRETS.BURSAR_SEALING_KEYS.replace(/^test:/, ''),
  };
  const sought: Sought[] = [
    ...Object.entries({ ...ofChecks, ...values, ...secrets }),
    ...PLANTED_CARD_DATA,
  ];
  const logs = String(process.env['BURSAR_TEST_LOGS']);
  const found = await searchFiles([mongod.folder, temporal.folder], [...sought, ...CONTROLS]);
  expect(missingControls(found)).toEqual([]);
  expect(found.filter((each) => !each.startsWith('the control of '))).toEqual([]);
  const logged: Sought[] = [...sought, ['the control of logs', 'worker is running']];
  const inLogs = (await searchFiles([logs], logged)).filter((each) => each.includes('.log'));
  expect(inLogs.filter((each) => !each.startsWith('the control of logs'))).toEqual([]);
  expect(inLogs).not.toEqual([]);
});
