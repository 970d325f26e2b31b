import { createMongoClient, TRANSACTION_OPTIONS } from '../../../src/platform/database/client.js';

describe('the client that holds money', () => {
  const client = createMongoClient('mongodb://127.0.0.1:1', 'test');

  test('the database client writes to a journaled majority and reads majority data from the primary', () => {
    expect(client.options.writeConcern).toMatchObject({ w: 'majority', journal: true });
    expect(client.options.readConcern).toMatchObject({ level: 'majority' });
    expect(client.options.readPreference).toMatchObject({ mode: 'primary' });
    expect(TRANSACTION_OPTIONS).toMatchObject({
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
    });
  });

  test('every wait of the database client has a limit', () => {
    for (const name of [
      'serverSelectionTimeoutMS',
      'connectTimeoutMS',
      'waitQueueTimeoutMS',
      'socketTimeoutMS',
    ] as const) {
      expect(client.options[name]).toBeGreaterThan(0);
      expect(client.options[name]).toBeLessThanOrEqual(10_000);
    }
    expect(TRANSACTION_OPTIONS.maxCommitTimeMS).toBeLessThanOrEqual(10_000);
  });

  test('the database client returns longs as bigint, so that no amount is rounded', () => {
    expect(client.bsonOptions.useBigInt64).toBe(true);
  });
});
