import { MongoBulkWriteError, MongoNetworkError, MongoServerError } from 'mongodb';
import { isDatabaseUnavailable } from '../../../src/platform/database/unavailable.js';

const NO_RESULT = {} as ConstructorParameters<typeof MongoBulkWriteError>[1];

test('a connection that breaks under a bulk write is unavailability, whatever it is wrapped in', () => {
  const broken = new MongoNetworkError('connection 2 closed');
  expect(isDatabaseUnavailable(broken)).toBe(true);
  expect(isDatabaseUnavailable(new MongoBulkWriteError(broken, NO_RESULT))).toBe(true);
});

test('what is wrong with the request itself is not', () => {
  const refused = { message: 'Document failed validation', code: 121 };
  expect(isDatabaseUnavailable(new MongoServerError(refused))).toBe(false);
  expect(isDatabaseUnavailable(new MongoBulkWriteError(refused, NO_RESULT))).toBe(false);
  expect(isDatabaseUnavailable(new Error('connection 2 closed'))).toBe(false);
});
