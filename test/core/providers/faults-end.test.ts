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
