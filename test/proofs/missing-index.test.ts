import { setTimeout as sleep } from 'node:timers/promises';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, type Reply, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant({ balanceMinor: 1_000_000_000 });
});
afterAll(async () => {
  await service.allEnded();
  const problems = await service.problems();
  await service.close();
  expect(problems).toEqual([]);
});

const stored = () => service.deps.database.db.collection('transfers');
const readiness = async () => (await fetch(`${service.api.url}/health/ready`)).status;
const send = (reference?: string) =>
  tenant.transfer(transferBody('789', reference === undefined ? {} : { reference }));

test('while the unique index on references is missing, transfers are refused under load and nothing else; then work continues', async () => {
  const reference = 'sent-before-and-during';
  const first = await send(reference);
  expect(first.status).toBe(201);
  const replies: Reply[] = [];
  const loading = new AbortController();
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!loading.signal.aborted) {
        replies.push(await send());
        await sleep(50);
      }
    }),
  );
  await stored().dropIndex('tenant_id_1_reference_1');
  await eventually('the API is not ready', async () => (await readiness()) === 503 || undefined);

  // A larger batch reads the references, so it answers a duplicate itself.
  expect([422, 503]).toContain((await send(reference)).status);
  const refused = await send();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await stored().countDocuments({ reference })).toBe(1);
  const doctor = await bursar('doctor', service.env);
  expect(doctor.out).toContain('transfers lacks its index on tenant_id, reference');
  // Settlements create no transfer.
  await tenant.waitFor(first.body.data.id, 'completed');

  await stored().createIndex({ tenant_id: 1, reference: 1 }, { unique: true });
  await eventually('the API is ready', async () => (await readiness()) === 200 || undefined);
  loading.abort();
  await load;
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 503]));
  expect((await send()).status).toBe(201);
  expect((await send(reference)).body.error.code).toBe('duplicate_reference');
});
