import { MongoBulkWriteError, MongoNetworkError, MongoServerError } from 'mongodb';
import { isDatabaseUnavailable } from '../../../src/platform/database/unavailable.js';

const NO_RESULT = {} as ConstructorParameters<typeof MongoBulkWriteError>[1];

test('a connection that breaks during a bulk write counts as unavailable, also inside its wrapping error', () => {
  const broken = new MongoNetworkError('connection 2 closed');
  expect(isDatabaseUnavailable(broken)).toBe(true);
  expect(isDatabaseUnavailable(new MongoBulkWriteError(broken, NO_RESULT))).toBe(true);
});

test('an error of the request itself does not count as unavailable', () => {
  const refused = { message: 'Document failed validation', code: 121 };
  expect(isDatabaseUnavailable(new MongoServerError(refused))).toBe(false);
  expect(isDatabaseUnavailable(new MongoBulkWriteError(refused, NO_RESULT))).toBe(false);
  expect(isDatabaseUnavailable(new Error('connection 2 closed'))).toBe(false);
});
