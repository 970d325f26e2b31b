import { MongoClient } from 'mongodb';
import { migrations } from '../../../src/composition/migrations.js';
import { watchUniqueIndexes } from '../../../src/platform/database/unique-indexes.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let client: MongoClient;
/** The collections whose indexes were listed. */
let listed: string[];
const at = { ms: 0 };

beforeAll(async () => {
  database = await openTestDatabase();
  client = new MongoClient(database.uri, { monitorCommands: true });
  client.on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'listIndexes') listed.push(command['listIndexes']);
  });
});
afterAll(async () => {
  await client.close();
  await database.close();
});
beforeEach(() => {
  listed = [];
});

const watched = () =>
  watchUniqueIndexes({
    db: client.db(database.name),
    migrations,
    log: createLog({ level: 'silent', name: 'test' }),
    now: () => at.ms,
  });

const REFERENCES = { tenant_id: 1, reference: 1 } as const;

test('no record is created by a check that is older than two seconds, and nothing is checked without need', async () => {
  const indexes = watched();
  const lacks = async () => indexes.lacks('transfers');
  expect(await Promise.all([lacks(), lacks(), indexes.lacks('postings')])).toEqual([
    false,
    false,
    false,
  ]);
  expect(await lacks()).toBe(false);
  expect(listed.filter((name) => name === 'transfers')).toHaveLength(1);

  const transfers = database.db.collection('transfers');
  await transfers.dropIndex('tenant_id_1_reference_1');
  at.ms += 2_000;
  expect(await lacks()).toBe(true);
  await expect(indexes.assertPresent()).rejects.toThrow('transfers on tenant_id, reference');
  await transfers.createIndex(REFERENCES, { unique: true });
  at.ms += 2_000;
  expect(await lacks()).toBe(false);
  await expect(indexes.assertPresent()).resolves.toBeUndefined();
  await indexes.close();
});

test('readiness checks every collection, and again only after a while', async () => {
  const indexes = watched();
  await indexes.assertPresent();
  const first = new Set(listed);
  expect(first.size).toBeGreaterThan(5);
  await indexes.assertPresent();
  expect(listed).toHaveLength(first.size);
  at.ms += 60_000;
  await indexes.assertPresent();
  expect(listed).toHaveLength(2 * first.size);
});
