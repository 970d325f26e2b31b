import { createProviderFaults } from '../../../src/core/providers/faults.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('the end of a fault leaves the word with the same name, which a single record has met, to an operator', async () => {
  const faults = createProviderFaults({
    db: database.db,
    log: createLog({ level: 'silent', name: 'test' }),
  });
  const lasting = async () => (await faults.list()).map(({ kind, name }) => [kind, name]);
  await faults.reportOfOne('paystack', 'bad_request', { record: 'trf_1', tenant: 'ten_1' });
  expect(await faults.end('paystack', 'bad_request')).toBe(false);
  await faults.report('paystack', 'bad_request');
  expect(await faults.end('paystack', 'bad_request')).toBe(true);
  expect(await lasting()).toEqual([['word', 'bad_request']]);
});

test('records that met a refusal before an operator has ended it count no more', async () => {
  const faults = createProviderFaults({
    db: database.db,
    log: createLog({ level: 'silent', name: 'test' }),
  });
  const meet = (record: string, tenant: string) =>
    faults.reportOfOne('other', 'bad_request', { record, tenant });
  for (const i of [1, 2, 3, 4]) await meet(`trf_${i}`, 'ten_1');
  await database.client.withSession(async (session) => faults.endAll('other', session));
  // The word is met again by another way, which names no record.
  await faults.reportWord('other', 'bad_request');
  await meet('trf_5', 'ten_2');
  const kinds = (await faults.list())
    .filter(({ provider }) => provider === 'other')
    .map(({ kind }) => kind);
  expect(kinds).toEqual(['word']);
});
