import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/cli.js';
import { sharedEngines } from '../support/engines.js';
import { watchingCommands } from '../support/logs.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-commands-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The shapes that a process leaves which sends this command, as API and worker of all test files do. */
async function shapes(command: string): Promise<string> {
  const to = join(folder, 'shapes.txt');
  rmSync(to, { force: true });
  const script = `
    const { MongoClient } = require('mongodb');
    const client = new MongoClient(process.env.MONGODB_URI);
    const transfers = client.db('test_watched').collection('transfers');
    ${command}.finally(() => client.close());`;
  const { mongodbUri: MONGODB_URI } = sharedEngines();
  const ran = await run(process.execPath, [...watchingCommands(to), '-e', script], { MONGODB_URI });
  expect(ran).toEqual({ code: 0, out: '', error: '' });
  return existsSync(to) ? readFileSync(to, 'utf8') : '';
}

test('a command that names neither a tenant nor a reason is noted by its shape, without values', async () => {
  const noted = await shapes(`transfers.findOne({ status: 'pending', note: { $in: ['x'] } })`);
  expect(noted).toMatch(/^find transfers: {"find":"string","filter":{"status":"string",/);
  expect(noted).toContain('"note":{"$in":["string"]}');
  expect(noted).not.toContain('pending');
  expect(await shapes(`transfers.updateMany({ status: 'x' }, { $set: { a: 1 } })`)).toMatch(
    /^update/,
  );
  expect(await shapes(`transfers.findOne({ tenant_id: 'ten_a', status: 'pending' })`)).toBe('');
  expect(await shapes(`transfers.findOne({}, { comment: 'all tenants: loop' })`)).toBe('');
});
